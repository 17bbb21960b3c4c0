"""Adds uploaded files to a project. Another process reads the files; this one only writes rows."""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Literal

from sqlalchemy import Connection

from corefine.errors import CorefineError, InputError
from corefine.files import PRIVATE_FOLDER
from corefine.formats.uploads.reader import UploadTask
from corefine.formats.uploads.unpacking import Limits
from corefine.project.project import Project
from corefine.project.store import documents
from corefine.project.store.documents import NewDocument
from corefine.project.work.imported_entities import Use, use

LOG = logging.getLogger("corefine.uploads")

READER = "corefine.formats.uploads.reader"
FOLDER = "uploads"
MOST_WAITING = 20
KEPT = 100
"""How many uploads are remembered."""
WRITE_BYTES, WRITE_DOCUMENTS = 1_000_000, 50
"""How much is written at once. Small batches keep answers from waiting."""
AGAIN = "the server could not take all of it: send it again; what is in the project is not added twice"
ENDLESS = 2**31
"""Larger than the number of documents in any file."""
SILENT_SECONDS = 300.0
"""A file is given up if the reader reports nothing for this many seconds."""


@dataclass(slots=True)
class FileResult:
    """The result for one file: its documents and, if some are missing, the reason.

    duplicate    whether it is in the project already, perhaps under another name
    languages    the languages of its documents, given or detected
    annotated    how many of its documents have entities
    """

    file: str
    added: list[int] = field(default_factory=list)
    reason: str | None = None
    note: str | None = None
    duplicate: bool = False
    languages: list[str] = field(default_factory=list)
    annotated: int = 0


@dataclass(slots=True)
class Upload:
    """One upload. `done` is resolved at its end, with the error that stopped it or None.

    language         the language of documents that name none; None to detect it
    annotations      how to use the entities of the documents
    person_id        the person who sent it; entities that are used as answers are theirs
    """

    id: str
    name: str
    path: Path
    language: str | None = None
    annotations: Use = Use.IGNORE
    person_id: int = 0
    state: Literal["waiting", "reading", "done", "failed"] = "waiting"
    message: str | None = None
    files: int = 0
    files_done: int = 0
    bytes: int = 0
    bytes_done: int = 0
    results: list[FileResult] = field(default_factory=list)
    done: Future[None] = field(default_factory=Future)


class Importer:
    """Reads uploads one after the other. `on_added` is called when the project has new documents."""

    def __init__(self, project: Project, on_added: Callable[[], None], limits: Limits | None = None) -> None:
        self.project, self.limits = project, limits or Limits()
        self._on_added = on_added
        self._folder = project.folder / FOLDER
        self._uploads: OrderedDict[str, Upload] = OrderedDict()
        self._queue: SimpleQueue[Upload | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def place(self) -> Path:
        """The file for the bytes of a new upload."""
        with self._lock:
            if self._thread is None:
                shutil.rmtree(self._folder, ignore_errors=True)  # left over from an earlier server
                self._folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
                self._thread = threading.Thread(target=self._run, name="corefine-importer", daemon=True)
                self._thread.start()
            if self._unfinished() >= MOST_WAITING:
                raise InputError(f"{MOST_WAITING} uploads are waiting already: wait for them first")
        return self._folder / f"{secrets.token_hex(8)}.sent"

    def add(
        self,
        name: str,
        path: Path,
        *,
        language: str | None = None,
        annotations: Use = Use.IGNORE,
        person_id: int = 0,
    ) -> Upload:
        """Queue a complete file. The other arguments are those of `Upload`."""
        upload = Upload(secrets.token_hex(8), name, path, language, annotations, person_id)
        with self._lock:
            self._uploads[upload.id] = upload
            while len(self._uploads) > KEPT:
                self._uploads.popitem(last=False)
        self._queue.put(upload)
        return upload

    @property
    def is_busy(self) -> bool:
        """Whether an upload waits or is being read."""
        with self._lock:
            return self._unfinished() > 0

    def _unfinished(self) -> int:
        return sum(each.state in ("waiting", "reading") for each in self._uploads.values())

    def find(self, upload_id: str) -> Upload | None:
        return self._uploads.get(upload_id)

    def stop(self) -> None:
        """Stop the reader. Documents that were written are kept; the same file can be sent again."""
        self._stopped = True
        self._queue.put(None)
        process = self._process
        if process is not None:
            process.kill()
        if self._thread is not None:
            self._thread.join(5)

    def _run(self) -> None:
        while (upload := self._queue.get()) is not None and not self._stopped:
            upload.state = "reading"
            try:
                _Import(self, upload).run()
            except CorefineError as error:
                upload.state, upload.message = "failed", str(error)
                upload.done.set_exception(error)
            except Exception as error:
                LOG.exception("upload %s failed", upload.id)
                upload.state, upload.message = "failed", AGAIN
                upload.done.set_exception(error)
            else:
                upload.state = "done"
                upload.done.set_result(None)
            finally:
                with suppress(OSError):  # else no later upload would be read
                    upload.path.unlink(missing_ok=True)
                self._on_added()

    def start_reader(self) -> subprocess.Popen[bytes]:
        one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", READER],  # imports no Python file of the current folder
            env={**os.environ, **one},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        return self._process

    def added(self) -> None:
        self._on_added()


class _Import:
    """One upload that is being added to the project."""

    def __init__(self, importer: Importer, upload: Upload) -> None:
        self.importer, self.upload, self.project = importer, upload, importer.project
        self._pending: list[tuple[FileResult, NewDocument]] = []
        self._names: set[tuple[str, int]] = set()  # of what is pending
        self._known = 0  # documents that an earlier upload of the file has added already
        self._is_known = False
        self._same: str | None = None  # which document has the same content, in words
        with self.project.database.read() as connection:
            self._last = documents.last_id(connection)  # files of one upload may well be equal
        self._source = ""
        self._digest = ""

    def run(self) -> None:
        ended = False
        while not ended:
            folder = self.upload.path.with_suffix(".files")
            folder.mkdir(mode=PRIVATE_FOLDER)
            reader = self.importer.start_reader()
            try:
                ended = self._follow(reader, folder)
            finally:
                reader.kill()
                reader.wait()
                for stream in (reader.stdin, reader.stdout):
                    if stream is not None:
                        stream.close()
                shutil.rmtree(folder, ignore_errors=True)
        self._flush()

    def _follow(self, reader: subprocess.Popen[bytes], folder: Path) -> bool:
        """Process what the reader reports. Returns whether it finished; if not, it is started again."""
        if reader.stdin is None or reader.stdout is None:
            raise RuntimeError("the reader has no pipes")
        upload = self.upload
        limits = self.importer.limits.to_json()
        task = UploadTask(str(upload.path), upload.name, str(folder), upload.files_done, limits, upload.language)
        watch = threading.Timer(SILENT_SECONDS, reader.kill)
        try:
            _say(reader.stdin, asdict(task))
            while line := reader.stdout.readline():
                watch.cancel()
                event = json.loads(line)
                if event["event"] == "end":
                    return True
                if event["event"] == "failed":
                    raise InputError(event["message"])
                self._take(event, reader.stdin, reader.stdout)
                watch = threading.Timer(SILENT_SECONDS, reader.kill)
                watch.daemon = True
                watch.start()
        except BrokenPipeError:
            pass
        finally:
            watch.cancel()
        return self._died()

    def _died(self) -> bool:
        """The reader died. Blame the file that it was reading."""
        upload = self.upload
        if self.importer._stopped:
            raise InputError("the server was stopped: send the file again")
        if not upload.files or upload.files_done >= upload.files:
            raise InputError(f"{upload.name} cannot be unpacked: it needs too much memory or time")
        upload.results[-1].reason = "it needs too much memory or time to be read: divide it into smaller files"
        upload.files_done += 1
        return False

    def _take(self, event: dict[str, Any], answer: IO[bytes], content: IO[bytes]) -> None:
        upload = self.upload
        match event["event"]:
            case "files":
                upload.files, upload.bytes = event["files"], event["bytes"]
            case "refused":
                upload.results.append(FileResult(event["file"], reason=event["reason"]))
            case "file":
                upload.results.append(FileResult(event["file"]))
                self._digest = event["digest"]
                self._source = f"upload:{self._digest[:16]}:{event['file']}"
                self._flush()
                with self.project.database.read() as connection:
                    self._known = documents.count_from(connection, self._source)
                    same = documents.same_content(connection, self._digest, last=self._last)
                self._is_known = self._known > 0
                self._same = None if same is None else _same_words(event["file"], *same)
                if same is not None and not self._known:  # under another name
                    self._is_known, self._known = True, ENDLESS
            case "document":
                self._take_document(event, answer, content)
            case "read":
                self._flush()
                result = upload.results[-1]
                result.note = event["note"]
                result.reason = result.reason or event["reason"]
                if self._is_known and not result.added and result.reason is None:
                    result.reason, result.duplicate = self._same, True
                upload.files_done += 1
            case "progress":
                upload.bytes_done += event["bytes"]

    def _take_document(self, event: dict[str, Any], answer: IO[bytes], content: IO[bytes]) -> None:
        result = self.upload.results[-1]
        name = None
        if self._known:
            self._known -= 1
        else:
            try:
                with self.project.database.read() as connection:
                    name = documents.free_name(connection, event["name"], event["part"], besides=self._names)
            except InputError as error:
                result.reason = str(error)
        _say(answer, name)
        if name is None:
            return
        if event["language"] is not None and event["language"] not in result.languages:
            result.languages.append(event["language"])
        size = int(content.readline())
        text = content.read(size).decode()
        gold = event["has_gold"]
        held_out = gold and self.upload.annotations is Use.GOLD
        new = NewDocument(name, event["part"], event["tokens"], text, gold, self._source, self._digest, held_out)
        self._pending.append((result, new))
        self._names.add((name, event["part"]))
        if len(self._pending) >= WRITE_DOCUMENTS or sum(len(each.content) for _, each in self._pending) >= WRITE_BYTES:
            self._flush()

    def _flush(self) -> None:
        """Write what is pending, in order, so that a later upload of the same file can continue from there."""
        pending, self._pending = self._pending, []
        self._names.clear()
        if not pending:
            return

        self.project.writer.check()
        # in a transaction of its own, so that the thread that writes answers waits only where the database makes it
        with self.project.database.write() as connection:
            keys = [documents.add_new(connection, new) for _, new in pending]
            for key, (result, new) in zip(keys, pending, strict=True):
                self._use(connection, key, result.file, new)
        for (result, new), key in zip(pending, keys, strict=True):
            result.added.append(key)
            result.annotated += new.has_gold
        self.importer.added()

    def _use(self, connection: Connection, key: int, file: str, new: NewDocument) -> None:
        """Use the entities of a document as the upload says."""
        upload = self.upload
        if new.has_gold and upload.annotations in (Use.ANSWERS, Use.SUGGESTIONS):
            document = documents.parsed(key, new.content)
            use(connection, key, document, upload.annotations, person_id=upload.person_id, source=file)


def _say(stream: IO[bytes], value: Any) -> None:
    stream.write(json.dumps(value).encode() + b"\n")
    stream.flush()


def _same_words(file: str, name: str, trashed: bool) -> str:
    """Why a file with the same content as an existing document is not added."""
    known = "" if Path(file).name.partition(".")[0] == Path(name).name else f", as {name}"
    return f"it is in the trash{known}: restore it there" if trashed else f"it is in the project already{known}"
