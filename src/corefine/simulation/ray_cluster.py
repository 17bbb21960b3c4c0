"""Ray: runs the cells of a grid, the members of a committee and large sets of predictions as tasks of a cluster.

Imported only when Ray is asked for. A task gets everything as arguments and returns everything as bytes, so machines
need no shared folder, and a task that Ray repeats because its machine was lost gives the same bytes. Only the process
that asked writes results, once for each task.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corefine.corpora import Corpus
from corefine.document import Document
from corefine.errors import CorefineError, InputError, MissingExtraError
from corefine.files import LOCK, write_atomically
from corefine.prediction import Prediction
from corefine.simulation.grid import (
    CELLS,
    FIRST_MODELS,
    Cell,
    CellDone,
    CellFailed,
    CellResult,
    finished,
    row_path,
    run_cell,
)
from corefine.simulation.runs import CHECKPOINTS, cache_folder

if TYPE_CHECKING:
    from corefine.models.network.model import Model
    from corefine.models.resolver import Predictor
    from corefine.models.training.jobs import TrainingJob
    from corefine.simulation.executors import TrainedPredictor

LOCAL = "local"
RETRIES = 5
"""How often Ray repeats a task whose machine or process was lost."""

CHUNK = 16
"""How many documents one task predicts."""

ANSWER_SECONDS = 10
"""How long to wait for a cluster to answer."""

Files = dict[str, bytes]


def connect(address: str) -> None:
    """Start a cluster on this machine ("local"), or join the one at an address."""
    if find_spec("ray") is None:
        raise MissingExtraError("ray", "ray")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    if ray.is_initialized():
        return
    if address == LOCAL:
        ray.init(logging_level=logging.ERROR, log_to_driver=False, include_dashboard=False)
        return
    _check_answers(address)
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise InputError(f"no Ray cluster answers at {address}: {error}") from error


def _check_answers(address: str) -> None:
    """Raise at once if nothing listens there; Ray itself would try for minutes."""
    import socket

    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise InputError(f"{address!r} is not an address of a Ray cluster: give HOST:PORT, ray://HOST:PORT, or 'local'")
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
    except OSError as error:
        raise InputError(f"no Ray cluster answers at {address}: {error}; start one with `ray start --head`") from error


def run_grid_on_ray(cells: Sequence[Cell], out: Path, corpus: Corpus) -> Iterator[CellResult]:
    """As `grid.run_grid`, on the cores of the cluster: finished cells are kept, the others run."""
    import ray

    tasks = {name: _remote(_cell_task, name) for name in {cell.config.device for cell in cells}}
    shared = ray.put(corpus)
    waiting: dict[Any, Cell] = {}
    for cell in cells:
        if (found := finished(cell, out, corpus)) is not None:
            yield found
        else:
            waiting[tasks[cell.config.device].remote(cell, shared)] = cell
    while waiting:
        done, _ = ray.wait(list(waiting), num_returns=1)
        cell = waiting.pop(done[0])
        try:
            files = ray.get(done[0])
        except ray.exceptions.RayTaskError as error:
            yield CellFailed(cell, str(error.cause) if isinstance(error.cause, CorefineError) else str(error))
        except ray.exceptions.RayError as error:
            yield CellFailed(cell, f"Ray lost it {RETRIES + 1} times ({type(error).__name__}); run the grid again")
        else:
            unpack(files, out, last=row_path(Path(), cell).as_posix())  # with its row, the cell counts as finished
            yield CellDone(cell, row_path(out, cell))


def _cell_task(cell: Cell, corpus: Corpus) -> Files:
    """Run a cell on this machine; returns its files."""
    with tempfile.TemporaryDirectory(prefix="corefine-") as place:
        out = Path(place)
        run_cell(cell, out, corpus)
        shutil.rmtree(out / CELLS / cell.name / CHECKPOINTS, ignore_errors=True)
        shutil.rmtree(out / FIRST_MODELS, ignore_errors=True)
        return pack(out)


def _remote(work: Callable[..., Any], device: str) -> Any:
    """The function as a task with one core, and with one GPU if the device needs it."""
    import ray

    return ray.remote(num_cpus=1, num_gpus=_gpus(device), max_retries=RETRIES)(work)


def _gpus(device: str) -> int:
    """How many GPUs a task needs; "auto" takes one if the cluster has any."""
    import ray

    if device not in ("auto", "cuda"):
        return 0
    there = bool(ray.cluster_resources().get("GPU"))  # type: ignore[no-untyped-call]
    if device == "cuda" and not there:
        raise InputError("no machine of the Ray cluster has a GPU: use --device auto or cpu")
    return int(there)


class RayExecutor:
    """Trains the members of a committee and predicts many documents as tasks."""

    def own_device(self, name: str) -> str:
        """The device of this machine, which need not have the device that the cluster uses."""
        from corefine.models.devices import choose_device

        _gpus(name)
        return str(choose_device("auto" if name.startswith("cuda") else name))

    def train(self, jobs: Sequence[TrainingJob], share: Model | None) -> None:
        """Run each job as a task, and put what it made in its folder here."""
        from corefine.models.training.jobs import DONE

        running = [
            _remote(_train_task, job.device).remote(
                replace(job, folder=Path(), warm=None, cache=None), None if job.warm is None else pack(job.warm)
            )
            for job in jobs
        ]
        for job, files in zip(jobs, _results(running), strict=True):
            unpack(files, job.folder, last=DONE)

    def predict(self, trained: TrainedPredictor, documents: Sequence[Document]) -> list[Prediction]:
        """Predict chunks of documents as tasks; a single chunk is predicted here."""
        import ray

        if len(documents) <= CHUNK:
            from corefine.simulation.executors import LocalExecutor

            return LocalExecutor().predict(trained, documents)
        task = _remote(_predict_task, trained.device)
        members = ray.put([pack(folder) for folder in trained.folders])
        chunks = [documents[at : at + CHUNK] for at in range(0, len(documents), CHUNK)]
        found = _results([task.remote(members, tuple(chunk), trained.threads, trained.device) for chunk in chunks])
        return [prediction for chunk in found for prediction in chunk]


def _results(running: Sequence[Any]) -> list[Any]:
    """What the tasks returned. Raises corefine's own errors as they are, and others as InputError."""
    import ray

    try:
        found: list[Any] = ray.get(list(running))
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, CorefineError):
            raise error.cause from error
        raise InputError(f"a task failed on Ray: {error}") from error
    except ray.exceptions.RayError as error:
        raise InputError(f"Ray lost a task {RETRIES + 1} times ({type(error).__name__}): --resume goes on") from error
    return found


def _train_task(job: TrainingJob, warm: Files | None) -> Files:
    from corefine.models.training.jobs import train_model

    with tempfile.TemporaryDirectory(prefix="corefine-") as place:
        folder, start = Path(place) / "member", Path(place) / "warm"
        if warm is not None:
            unpack(warm, start)
        job = replace(job, folder=folder, warm=None if warm is None else start, cache=cache_folder())
        for _ in train_model(job):
            pass
        return pack(folder)


def _predict_task(members: list[Files], documents: tuple[Document, ...], threads: int, device: str) -> list[Prediction]:
    from corefine.models.devices import use_threads

    use_threads(threads)
    key = tuple(files["model.json"] for files in members)
    if key not in _loaded:
        _loaded.clear()  # one predictor in memory at a time
        _loaded[key] = _load(members, device)
    return [_loaded[key].predict(document) for document in documents]


_loaded: dict[tuple[bytes, ...], Predictor] = {}
"""The predictor of the last task of this process, by its members' `model.json`, which hold the hash of the weights."""


def _load(members: list[Files], device: str) -> Predictor:
    from corefine.models.committee import Committee
    from corefine.models.devices import choose_device
    from corefine.models.storage.checkpoint import load_model

    models: list[Model] = []
    for files in members:
        with tempfile.TemporaryDirectory(prefix="corefine-") as place:
            unpack(files, Path(place))
            models.append(load_model(Path(place), share=models[0] if models else None, cache=cache_folder()))
    return (models[0] if len(models) == 1 else Committee(models)).to(choose_device(device))


def pack(folder: Path) -> Files:
    """The files of a folder by their paths in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != LOCK
    }


def unpack(files: Files, folder: Path, *, last: str | None = None) -> None:
    """Write files into a folder, atomically; the one named `last` at the end."""
    for name in sorted(files, key=lambda name: name == last):
        write_atomically(folder / name, files[name])
