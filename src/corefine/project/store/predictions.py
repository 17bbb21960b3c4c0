"""Model versions, and their predictions for each document.

A prediction is a file that the background worker writes once and that never changes, so that a session brought back
from its log asks the same question again.
"""

from __future__ import annotations

import io
import re
import struct
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from sqlalchemy import Connection, func, insert, select, update

from corefine.document import Span
from corefine.errors import InputError, ModelError
from corefine.files import write_atomically
from corefine.prediction import Prediction
from corefine.project.store import schema

RULES, STARTER, TRAINED = "rules", "starter", "trained"
TRAINING, READY, FAILED = "training", "ready", "failed"

DAMAGED = (
    OSError, EOFError, ValueError, KeyError, TypeError, OverflowError, MemoryError, RuntimeError, BadZipFile,
    zlib.error, struct.error, InputError,
)  # fmt: skip
"""The errors that reading a damaged prediction can raise."""

_LENGTHS = struct.Struct("<2H")
"""The lengths of the name and of the extra field, in the header of a member of a zip file."""

_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<type>[<|][bifuU]\d+)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>[\d, ]*)\), \} *\n",
    re.DOTALL,
)
"""What numpy writes before an array of numbers or text."""

EMPTY = Prediction(
    (), np.zeros((0, 0), dtype=np.int64), np.zeros((0, 1)), members=np.zeros((1, 0, 1)), mention_scores=np.zeros(0)
)
"""A prediction of no spans, for sessions that need no model."""


@dataclass(frozen=True, slots=True)
class ModelVersion:
    id: int
    name: str
    kind: str
    state: str
    answers: int
    f1: float | None
    message: str | None
    created_at: float

    @property
    def is_ready(self) -> bool:
        return self.state == READY


def add_version(connection: Connection, name: str, kind: str, *, state: str = READY, answers: int = 0) -> int:
    number = (connection.execute(select(func.max(schema.versions.c.id))).scalar() or 0) + 1
    values = {"id": number, "name": name, "kind": kind, "state": state, "answers": answers}
    connection.execute(insert(schema.versions).values(**values, created_at=time.time()))
    return number


def finish_version(
    connection: Connection, number: int, state: str, *, f1: float | None = None, message: str | None = None
) -> None:
    values = {"state": state, "f1": f1, "message": message}
    connection.execute(update(schema.versions).where(schema.versions.c.id == number).values(values))


def all_versions(connection: Connection) -> list[ModelVersion]:
    return [ModelVersion(*row) for row in connection.execute(select(schema.versions).order_by(schema.versions.c.id))]


def latest_version(connection: Connection) -> ModelVersion | None:
    """The newest version that can be used."""
    query = select(schema.versions).where(schema.versions.c.state == READY).order_by(schema.versions.c.id.desc())
    row = connection.execute(query.limit(1)).first()
    return None if row is None else ModelVersion(*row)


def ready_versions(connection: Connection) -> list[int]:
    """The numbers of the versions that can be used, oldest first."""
    return [version.id for version in all_versions(connection) if version.is_ready]


def since_first(connection: Connection) -> list[ModelVersion]:
    """The versions that can be used, from the project's present first model on, oldest first."""
    ready = [version for version in all_versions(connection) if version.is_ready]
    return ready[max((at for at, version in enumerate(ready) if version.kind != TRAINED), default=0) :]


def training_share(connection: Connection) -> float | None:
    """How far training has come; None if no training is running."""
    share: float | None = connection.execute(select(schema.worker.c.share_done)).scalar()
    return share


def worker_state(connection: Connection) -> str:
    """What the background process is doing: idle, loading, predicting, training or failed; "" before it has begun."""
    state: str | None = connection.execute(select(schema.worker.c.state)).scalar()
    return state or ""


class Predictions:
    """The prediction files of a project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.load = lru_cache(maxsize=64)(self._load)

    def path(self, version: int, document: int) -> Path:
        return self.folder / f"v{version}" / f"{document}.npz"

    def exists(self, version: int, document: int) -> bool:
        return self.path(version, document).exists()

    def newest(self, versions: list[int], document: int) -> int | None:
        """The newest of these versions that has read the document."""
        return next((version for version in sorted(versions, reverse=True) if self.exists(version, document)), None)

    def save(self, version: int, document: int, prediction: Prediction) -> None:
        parts: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = {
            "spans": np.array(prediction.spans, dtype=np.int32).reshape(-1, 2),
            "candidates": prediction.candidates.astype(np.int32),
            "probabilities": prediction.probabilities,
            "decoding": np.array(prediction.decoding),
            "threshold": np.array(prediction.threshold),
        }
        for name in ("members", "mention_scores"):
            value = getattr(prediction, name)
            if value is not None:
                parts[name] = value
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **parts)
        write_atomically(self.path(version, document), buffer.getvalue())

    def _load(self, version: int, document: int) -> Prediction:
        path = self.path(version, document)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ModelError(f"the prediction of version {version} cannot be read ({error.strerror})") from error
        try:
            return parse(content)
        except DAMAGED as error:
            with suppress(OSError):
                path.unlink()  # so that it is computed again
            raise ModelError(
                f"the prediction of version {version} was damaged ({error}), and is made again: try again in a moment"
            ) from error


def parse(content: bytes) -> Prediction:
    """A prediction from the content of its file."""
    with ZipFile(io.BytesIO(content)) as archive:
        parts = {
            member.filename.removesuffix(".npy"): _array(_unpacked(archive, member, content))
            for member in archive.infolist()
        }
    return Prediction(
        spans=tuple(starmap(Span, parts["spans"].tolist())),
        candidates=parts["candidates"],
        probabilities=parts["probabilities"],
        members=parts.get("members"),
        mention_scores=parts.get("mention_scores"),
        decoding=str(parts.get("decoding", "half")),  # type: ignore[arg-type]  # Prediction checks it
        threshold=float(parts.get("threshold", 0.5)),
    )


def _unpacked(archive: ZipFile, member: ZipInfo, content: bytes) -> bytes:
    """The bytes of a member. Those that are not compressed are cut out: `ZipFile.read` takes five times as long."""
    if member.compress_type == ZIP_DEFLATED:
        return archive.read(member)
    if member.compress_type != ZIP_STORED:
        raise BadZipFile(f"{member.filename} is compressed in an unknown way")
    name, extra = _LENGTHS.unpack_from(content, member.header_offset + 26)
    start = member.header_offset + 30 + name + extra
    found = content[start : start + member.file_size]
    if zlib.crc32(found) != member.CRC:
        raise BadZipFile(f"bad checksum of {member.filename}")
    return found


def _array(content: bytes) -> np.ndarray:
    """The array of a .npy file. numpy reads the header as Python code, which takes longer than all the rest."""
    end = 10 + int.from_bytes(content[8:10], "little")
    header = _HEADER.fullmatch(content, 0, end)
    if header is None:
        found: np.ndarray = np.load(io.BytesIO(content), allow_pickle=False)
        return found
    shape = [int(part) for part in header["shape"].split(b",") if part.strip()]
    return np.frombuffer(content, header["type"].decode(), offset=end).reshape(shape)
