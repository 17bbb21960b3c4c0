"""The process that unpacks and reads an uploaded file. It does not know the project, and imports little.

    python -m corefine.formats.uploads.reader

It reads one line of JSON (`UploadTask`), then writes a line of JSON for each event. After an event `document` it waits
for a line with the document's name, which is empty if the document is not wanted. It then writes the document: a line
with the number of bytes, then the bytes. A bad file may kill this process; `start` says how many files to skip when it
is started again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corefine import formats
from corefine.document import Document
from corefine.errors import CorefineError, Fault
from corefine.files import sha256_of
from corefine.formats import jsonl
from corefine.formats.languages import with_language
from corefine.formats.uploads.unpacking import Limits, cut_text, unpack

NICE = 10


@dataclass(frozen=True, slots=True)
class UploadTask:
    """What to read: a file, its name, a folder to unpack it in, and how many files to skip.

    language    the language of documents that name none; None to detect it
    """

    sent: str
    name: str
    folder: str
    start: int
    limits: dict[str, Any]
    language: str | None = None


def main() -> None:
    # spaCy would import torch, which takes longer than reading most files and is not needed here
    sys.modules.setdefault("torch", None)  # type: ignore[arg-type]  # None means: cannot be imported
    task = UploadTask(**json.loads(sys.stdin.readline()))
    limits = Limits(**task.limits)
    _bound(limits.memory)
    try:
        _Reader(task, limits).run()
    except CorefineError as error:
        _tell("failed", message=_shown(str(error), Path(task.folder)))
    except MemoryError:
        _tell("failed", message=f"{task.name} needs too much memory to be unpacked")
    except OSError as error:
        with contextlib.suppress(BrokenPipeError):  # the server is gone
            _tell("failed", message=f"the server has no room for {task.name}: {error.strerror}")


class _Reader:
    def __init__(self, task: UploadTask, limits: Limits) -> None:
        self.task, self.limits = task, limits
        self.folder = Path(task.folder)

    def run(self) -> None:
        found = unpack(Path(self.task.sent), self.task.name, self.folder, self.limits)
        shown = {str(path): name for path, name in found.files.items()}
        refused: list[tuple[str, str]] = list(found.refused)
        known = [path for path in found.files if formats.knows(path)]
        refused += [(shown[str(path)], "its content is that of no known format") for path in found.files.keys() - known]
        paths = [path for path, _ in formats.find_files(known)] if known else []
        _tell("files", files=len(paths), bytes=sum(path.stat().st_size for path in paths))
        for name, reason in refused if not self.task.start else ():
            _tell("refused", file=name, reason=_shown(reason, self.folder))
        for path in paths[self.task.start :]:
            self._read(path, shown[str(path)])
        _tell("end")

    def _read(self, path: Path, shown: str) -> None:
        """Read one file. Its faults are reported, and the next file is read."""
        _tell("file", file=shown, digest=sha256_of(path))
        reasons: list[str] = []
        documents = 0
        try:
            parts = [path]
            if path.suffix == ".txt":
                parts = cut_text(path, self.limits.text)
            for document in self._documents(parts, reasons):
                documents += 1
                self._send(document)
        except CorefineError as error:
            reasons.append(str(error))
        except MemoryError:
            reasons.append("it needs too much memory to be read: divide it into smaller files")
        except BrokenPipeError:
            raise
        except OSError as error:
            reasons.append(f"the server has no room for it: {error.strerror}")
        if not documents and not reasons:
            reasons.append("it holds no text")
        note = f"it is long, and was divided into {len(parts)} parts" if len(parts) > 1 else None
        reason = "; ".join(_shown(reason, self.folder) for reason in reasons[:3]) or None
        _tell("read", file=shown, reason=reason, note=note)

    def _documents(self, paths: list[Path], reasons: list[str]) -> Iterator[Document]:
        def note(fault: Fault) -> None:
            if fault.fatal:
                reasons.append(fault.what)

        for path in paths:
            size = path.stat().st_size
            for document in formats.read(path, on_fault=note, language=self.task.language):
                if len(document) > self.limits.tokens:
                    most = f"{self.limits.tokens:,}"
                    reasons.append(f"{document.key} has {len(document):,} tokens, and a document at most {most}")
                elif len(document):
                    yield document
            _tell("progress", bytes=size)

    def _send(self, found: Document) -> None:
        document = with_language(found)
        gold = bool(document.clusters)
        _tell(
            "document",
            name=document.name,
            part=document.part,
            tokens=len(document),
            has_gold=gold,
            language=document.language,
        )
        name = json.loads(sys.stdin.readline() or "null")
        if name is None:
            return
        content = jsonl.render(replace(document, name=name)).encode()
        out = sys.stdout.buffer
        out.write(b"%d\n" % len(content))
        out.write(content)
        out.flush()


def _tell(event: str, **fields: Any) -> None:
    sys.stdout.buffer.write(json.dumps({"event": event, **fields}).encode() + b"\n")
    sys.stdout.buffer.flush()


def _shown(reason: str, folder: Path) -> str:
    """The reason without the paths of the server."""
    return re.sub(re.escape(str(folder)) + r"/(?:[0-9a-f]+/)?", "", reason)


def _bound(memory: int) -> None:
    """Lower the priority of this process and limit its memory."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICE)
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


if __name__ == "__main__":
    main()
