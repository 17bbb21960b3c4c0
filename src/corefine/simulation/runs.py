"""One run as a folder: its settings, every question and round, and all that is needed to resume it.

    config.json        what the results depend on, see `RunInfo`
    questions.jsonl    a row for each question
    rounds.jsonl       a row for each round; the last has "final": true
    timings.jsonl      where the time of each round went, on this machine
    lessons.jsonl      what training learns from each document annotated so far
    checkpoints/       models of the last rounds, with the final one

A round is written when it is done, and its row in rounds.jsonl last. Without that row the round does not count: a
resumed run drops what a kill or a full disk left of it, and runs it again to the same result. All files
except timings.jsonl are determined by config.json and the corpus, byte for byte.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from corefine import __version__, plugins
from corefine.annotation.labels import Labels
from corefine.corpora import Corpus
from corefine.errors import ConfigError, InputError
from corefine.files import exclusive, home_folder, write_atomically
from corefine.models.training.recipe import Recipe
from corefine.simulation.code_hash import SCHEME, code_hash
from corefine.simulation.config import SimulationConfig
from corefine.simulation.executors import Executor, LocalExecutor
from corefine.simulation.learners import FixedLearner, Learner, NeuralLearner, recipe_of, starter_weights
from corefine.simulation.loop import FinishedRounds, RoundDone, RunEvent, simulate
from corefine.simulation.rows import CorpusInfo, QuestionRow, RoundRow, RunInfo, RunTiming
from corefine.simulation.splits import fingerprint

CONFIG = "config.json"
QUESTIONS = "questions.jsonl"
ROUNDS = "rounds.jsonl"
TIMINGS = "timings.jsonl"
LESSONS = "lessons.jsonl"
CHECKPOINTS = "checkpoints"

Row = TypeVar("Row")


def run(
    config: SimulationConfig,
    folder: Path,
    corpus: Corpus,
    *,
    resume: bool = False,
    shared: Path | None = None,
    executor: Executor | None = None,
) -> Iterator[RunEvent]:
    """Run into a folder, or resume the run there; yields the events of what is left to do.

    shared     a folder where the runs of a grid keep the first models that they have in common
    executor   what trains and predicts; None for this process
    """
    info = describe(config, corpus)
    if (folder / CONFIG).is_file() and not resume:
        raise InputError(f"{folder} already holds a run: resume it with --resume, or choose another folder")
    if config.trains:
        (executor or LocalExecutor()).own_device(config.device)  # fail now, not after the corpus is encoded
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with exclusive(folder, "running into"):
        if (folder / CONFIG).is_file():
            saved = read_info(folder)
            check_same(f"the run in {folder}", saved, info)
            if saved.code.startswith(SCHEME) and saved.code != info.code and not is_finished(folder):
                raise InputError(
                    f"the run in {folder} was started by other source code of corefine, and results may differ: "
                    "finish it with that version, or start a new run"
                )
        else:
            with writing(folder / CONFIG):
                content = json.dumps(info.to_json(), indent=1, ensure_ascii=False)
                write_atomically(folder / CONFIG, content.encode())
        finished = _restore(folder, corpus)
        if finished.rows and finished.rows[-1].final:
            return
        learner = _learner(config, corpus, folder, shared, executor)
        for event in simulate(config, tagged(corpus, config), learner, finished=finished):
            if isinstance(event, RoundDone):
                _save(folder, event)
            yield event


def tagged(corpus: Corpus, config: SimulationConfig) -> Corpus:
    """The corpus; if the settings name a tagger, scored documents have its tags."""
    if config.tagger is None:
        return corpus
    from corefine.models.tagging import with_tags

    dev, test = (tuple(with_tags(documents, config.tagger)) for documents in (corpus.dev, corpus.test))
    return replace(corpus, dev=dev, test=test)


def read_info(folder: Path) -> RunInfo:
    """What config.json says."""
    path = folder / CONFIG
    try:
        return RunInfo.from_json(json.loads(path.read_bytes()))
    except FileNotFoundError as error:
        raise InputError(f"{folder} holds no run: {CONFIG} is not there") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} does not describe a run: {error}") from error


def is_finished(folder: Path) -> bool:
    """Whether the run's last round is done."""
    rounds = read_rows(folder / ROUNDS, RoundRow.from_json)
    return bool(rounds) and rounds[-1].final


def read_rows(path: Path, parse: Callable[[dict[str, Any]], Row]) -> list[Row]:
    """The rows of a file; a last line that a kill cut short is left out."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    whole = content[: content.rfind(b"\n") + 1]
    try:
        return [parse(json.loads(line)) for line in whole.splitlines()]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged ({error}): remove the folder and run again") from error


def read_timing(folder: Path) -> RunTiming:
    """Where the time of a run went."""
    return RunTiming.sum(read_rows(folder / TIMINGS, RunTiming.from_json))


def cache_folder() -> Path:
    """Where the states of frozen encoders are kept."""
    return home_folder() / "states"


def check_recipe(config: SimulationConfig) -> None:
    """Raise if the recipe or its word vectors cannot be used. Called before the corpus is read."""
    if config.trains:
        from corefine.models.load import need_model

        need_model()
        encoder = recipe_of(config).model.encoder
        if encoder.kind == "bilstm" and encoder.path is not None and not plugins.known("encoders", encoder.path):
            from corefine.models.network.encoders.vectors import load_vectors

            load_vectors(Path(encoder.path), encoder.word_width)
    elif config.set or config.vectors is not None:
        given = f"--set {config.set[0]}" if config.set else f"--vectors {config.vectors}"
        raise ConfigError(f"{given} changes the recipe of a network, but the learner {config.learner!r} trains none")


def describe(config: SimulationConfig, corpus: Corpus) -> RunInfo:
    """Everything that the results of a run depend on. Raises if its recipe or its starter cannot be found."""
    recipe = starter = None
    if config.trains:
        from corefine.models.load import need_model

        need_model()
        recipe, starter = recipe_of(config).to_dict(), starter_weights(config)
    sizes = (len(corpus.train), len(corpus.dev), len(corpus.test))
    return RunInfo(
        corefine=__version__,
        code=code_hash(),
        simulation=config,
        recipe=recipe,
        corpus=CorpusInfo(corpus.name, *sizes, fingerprint(corpus)),
        starter=starter,
    )


def _learner(
    config: SimulationConfig, corpus: Corpus, folder: Path, shared: Path | None, executor: Executor | None
) -> Learner:
    if not config.trains:
        from corefine.models.load import load

        return FixedLearner(load(config.learner).model)
    return NeuralLearner(
        config,
        recipe_of(config),
        corpus.dev,
        folder=folder / CHECKPOINTS,
        cache=cache_folder(),
        shared=shared,
        executor=executor,
    )


def check_same(what: str, saved: RunInfo, present: RunInfo) -> None:
    """Raise unless a saved run has the version, corpus, starter and settings of the present one."""
    if saved.corefine != present.corefine:
        raise InputError(
            f"{what} was started with corefine {saved.corefine}, and this is {present.corefine}: "
            "finish it with that version, or start a new run"
        )
    if saved.corpus != present.corpus:
        raise InputError(
            f"the corpus has changed since {what} was started: its texts, gold clusters or splits differ; "
            "resume with the corpus as it was, or start a new run"
        )
    if saved.starter != present.starter:
        raise InputError(f"{what} began with a different starter; start a new run")
    recipe = None if saved.recipe is None else Recipe.from_dict(saved.recipe).to_dict()  # with settings added since
    for part, then, now in (
        ("simulation", saved.simulation.to_dict(), present.simulation.to_dict()),
        ("recipe", recipe, present.recipe),
    ):
        one, other = flat(then), flat(now)
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                raise ConfigError(
                    f"{what} was started with {part} {name} = {one.get(name)!r}, not {other.get(name)!r}; "
                    "resume it with the settings it was started with, or choose another folder"
                )


def flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names."""
    if not isinstance(values, dict):
        return {prefix.removesuffix("."): values} if prefix else {}
    return {name: value for key, inner in values.items() for name, value in flat(inner, f"{prefix}{key}.").items()}


def _restore(folder: Path, corpus: Corpus) -> FinishedRounds:
    """The rounds that are done; what is left of an unfinished one is removed from the files."""
    rounds = read_rows(folder / ROUNDS, RoundRow.from_json)
    kept = {}
    for name in (QUESTIONS, TIMINGS, LESSONS, ROUNDS):
        path = folder / name
        kept[name] = [row for row in read_rows(path, dict) if row["round"] < len(rounds)]
        content = _lines(kept[name])
        if not path.is_file() or path.read_bytes() != content:
            with writing(path):
                write_atomically(path, content)
    documents = {(each.name, each.part): each for each in corpus.train}
    lessons = (Labels.from_json(row, documents[row["document"], row["part"]]) for row in kept[LESSONS])
    questions = tuple(map(QuestionRow.from_json, kept[QUESTIONS]))
    return FinishedRounds(tuple(rounds), questions, tuple(lessons))


def _save(folder: Path, done: RoundDone) -> None:
    """Write a finished round, its row last."""
    number, timing = {"round": done.round}, done.timing
    _append(folder / QUESTIONS, (number | row.to_json() for row in done.questions))
    _append(folder / LESSONS, (number | lesson.to_json() for lesson in done.lessons))
    _append(folder / TIMINGS, [number | timing.parts | {"total": timing.total}])
    _append(folder / ROUNDS, [done.row.to_json()])


def _append(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with writing(path), path.open("ab") as file:
        file.write(_lines(rows))
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say which file cannot be written, and what to do then."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error}); what is finished is kept: make room, then run the command again "
            "(`corefine simulate` with --resume)"
        ) from error


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows)
