"""One run as a folder: what it was told, every question, every round, and enough to go on after a kill.

    config.json        the settings, the recipe they name, the corpus and its fingerprint
    questions.jsonl    a row for each question
    rounds.jsonl       a row for each round; the last has "final": true
    timings.jsonl      where the time of each round went, on this machine
    lessons.jsonl      what each document annotated so far teaches
    checkpoints/       models of the last rounds, the final one among them

A round is written when it is done, its row in rounds.jsonl last: that row is what makes it count. What a kill, or a
full disk, leaves of an unfinished round is dropped on resuming, and the round is run again to the same end. All but
timings.jsonl follows from config.json and the corpus, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corefine import __version__
from corefine.annotation.labels import Labels
from corefine.corpora import Corpus
from corefine.document import Document
from corefine.errors import ConfigError, CorefineError, InputError
from corefine.files import exclusive, home_folder, write_atomically
from corefine.simulation import splits
from corefine.simulation.config import SimulationConfig
from corefine.simulation.learners import Learner, RulesLearner
from corefine.simulation.loop import Event, Restored, RoundDone, simulate

if TYPE_CHECKING:
    from corefine.models.training.recipe import Recipe
    from corefine.simulation.workers import Workers

CONFIG = "config.json"
QUESTIONS = "questions.jsonl"
ROUNDS = "rounds.jsonl"
TIMINGS = "timings.jsonl"
LESSONS = "lessons.jsonl"
CHECKPOINTS = "checkpoints"


def run(
    config: SimulationConfig,
    folder: Path,
    corpus: Corpus,
    *,
    resume: bool = False,
    shared: Path | None = None,
    workers: Workers | None = None,
) -> Iterator[Event]:
    """Run into a folder, or go on with what is there; yields the events of what is left to do.

    shared     a folder where the runs of a grid keep first models they have in common
    workers    who trains and predicts; None: this process
    """
    recipe = _recipe(config)
    described = describe(config, corpus)
    if (folder / CONFIG).is_file() and not resume:
        raise InputError(f"{folder} holds a run already: go on with it (--resume), or choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    with exclusive(folder, "running into"):
        if (folder / CONFIG).is_file():
            saved = read_config(folder)
            check_same(f"the run in {folder}", saved, described)
            if saved.get("code") != described["code"] and not is_finished(folder):
                raise InputError(
                    f"the run in {folder} was started by another state of corefine's source, and would not end as it "
                    "began: finish it with that one, or start a new run"
                )
        else:
            _write(folder / CONFIG, json.dumps(described, indent=1, ensure_ascii=False).encode())
        restored = _restore(folder, corpus)
        if restored.rows and restored.rows[-1]["final"]:
            return
        learner = _learner(config, recipe, corpus, folder, shared, workers)
        for event in simulate(config, corpus, learner, restored=restored):
            if isinstance(event, RoundDone):
                _keep(folder, event)
            yield event


def load_config(folder: Path) -> SimulationConfig:
    """The settings a run was started with."""
    return SimulationConfig.from_dict(read_config(folder)["simulation"])


def read_config(folder: Path) -> dict[str, Any]:
    """All of config.json."""
    return _read_json(folder / CONFIG)


def is_finished(folder: Path) -> bool:
    """Whether the run's last round is done."""
    rows = read_rows(folder / ROUNDS)
    return bool(rows) and bool(rows[-1]["final"])


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of rows; a last line that a kill cut short is left out."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    whole = content[: content.rfind(b"\n") + 1]
    try:
        return [json.loads(line) for line in whole.splitlines()]
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): remove the folder and run again") from error


@dataclass(frozen=True, slots=True)
class Shares:
    """Of a run's wall time, what each part took."""

    total: float
    parts: dict[str, float]

    @property
    def choosing(self) -> float:
        """The share of selection and closure together."""
        return (self.parts["selection"] + self.parts["closure"]) / self.total if self.total else 0.0


def time_shares(folder: Path) -> Shares:
    """Where a run's time went, as timings.jsonl has it."""
    parts: dict[str, float] = {"selection": 0.0, "closure": 0.0}
    total = 0.0
    for row in read_rows(folder / TIMINGS):
        total += row["total"]
        for name, seconds in row.items():
            if name not in ("round", "total"):
                parts[name] = parts.get(name, 0.0) + seconds
    return Shares(total, parts)


def cache_folder() -> Path:
    """Where the states of frozen encoders are kept."""
    return home_folder() / "states"


def _recipe(config: SimulationConfig) -> Recipe | None:
    if config.learner == "rules":
        return None
    from corefine.models.load import need_model

    need_model()
    from corefine.simulation.neural import resolve_recipe, starter_folder

    starter_folder(config)  # a starter that is not there is an error now, not after the first round
    return resolve_recipe(config.recipe)


def _learner(
    config: SimulationConfig,
    recipe: Recipe | None,
    corpus: Corpus,
    folder: Path,
    shared: Path | None,
    workers: Workers | None,
) -> Learner:
    if recipe is None:
        return RulesLearner()
    from corefine.simulation.neural import NeuralLearner

    return NeuralLearner(
        config,
        recipe,
        corpus.dev,
        folder=folder / CHECKPOINTS,
        cache=cache_folder(),
        shared=shared,
        workers=workers,
    )


def describe(config: SimulationConfig, corpus: Corpus) -> dict[str, Any]:
    """All that a run's result follows from."""
    recipe = _recipe(config)
    described: dict[str, Any] = {
        "corefine": __version__,
        "code": code_hash(),
        "simulation": config.to_dict(),
        "recipe": None if recipe is None else recipe.to_dict(),
        "corpus": {
            "name": corpus.name,
            "train": len(corpus.train),
            "dev": len(corpus.dev),
            "test": len(corpus.test),
            "fingerprint": splits.fingerprint(corpus),
        },
    }
    if config.starter is not None and config.learner == "model":
        from corefine.simulation.neural import starter_weights

        described["starter"] = starter_weights(config)
    return described


@cache
def code_hash() -> str:
    """A hash of the source that results depend on, so that a report can tell rows of one state of it from others."""
    package = Path(__file__).parents[1]
    apart = {"web", "cli", "reproduction", "project", "formats", "corpora", "terminal"}
    shown = {"explain.py"}  # what only shows what there is already
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in apart and path.name not in shown:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def check_same(what: str, saved: dict[str, Any], present: dict[str, Any]) -> None:
    """Raise unless what is saved (a run, or the record of one) is of the run that is asked for."""
    if saved.get("corefine") != __version__:
        raise InputError(
            f"{what} was started with corefine {saved.get('corefine')}, and this is {__version__}: "
            "finish it with that version, or start a new run"
        )
    if saved.get("corpus") != present["corpus"]:
        raise InputError(
            f"the corpus has changed since {what} was started: its texts, gold or splits are others; "
            "resume with the corpus as it was, or start a new run"
        )
    if saved.get("starter") != present.get("starter"):
        raise InputError(f"{what} began with another starter than the one that is there now; start a new run")
    for part in ("simulation", "recipe"):
        one, other = _flat(_as_now(part, saved.get(part))), _flat(json.loads(json.dumps(present[part])))
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                raise ConfigError(
                    f"{what} was started with {part} {name} = {one.get(name)!r}, not {other.get(name)!r}; "
                    "resume it as it was started, or choose another folder"
                )


def _as_now(part: str, values: dict[str, Any] | None) -> Any:
    """Saved settings as this version would save them: those that came later at their defaults."""
    if values is None:
        return None
    if part == "simulation":
        return SimulationConfig.from_dict(values).to_dict()
    from corefine.models.training.recipe import Recipe

    return json.loads(json.dumps(Recipe.from_dict(values).to_dict()))


def _flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names."""
    if not isinstance(values, dict):
        return {prefix.removesuffix("."): values} if prefix else {}
    return {name: value for key, inner in values.items() for name, value in _flat(inner, f"{prefix}{key}.").items()}


def _restore(folder: Path, corpus: Corpus) -> Restored:
    """The rounds that are done; what is left of an unfinished one is cut off the files."""
    rounds = read_rows(folder / ROUNDS)
    kept = {}
    for name in (QUESTIONS, TIMINGS, LESSONS, ROUNDS):
        kept[name] = [row for row in read_rows(folder / name) if row["round"] < len(rounds)]
        content = _lines(kept[name])
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            _write(path, content)
    documents: dict[tuple[str, int], Document] = {(each.name, each.part): each for each in corpus.train}
    lessons = (Labels.from_json(row, documents[row["document"], row["part"]]) for row in kept[LESSONS])
    return Restored(tuple(rounds), tuple(lessons))


def _keep(folder: Path, done: RoundDone) -> None:
    """Write a finished round, its row last."""
    _append(folder / QUESTIONS, done.questions)
    _append(folder / LESSONS, ({"round": done.round, **lesson.to_json()} for lesson in done.lessons))
    _append(folder / TIMINGS, [done.timing])
    _append(folder / ROUNDS, [done.row])


def _append(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    try:
        with path.open("ab") as file:
            file.write(_lines(rows))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _cannot_write(path, error) from error


def _write(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> CorefineError:
    return InputError(f"{path} cannot be written ({error}); finished rounds are kept: make room, then --resume")


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"{path.parent} holds no run: {path.name} is not there") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} does not describe a run")
    return found
