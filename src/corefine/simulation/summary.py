"""Finished runs as compact records: what tables and figures are made from."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from corefine.errors import InputError
from corefine.models.training.recipe import Recipe
from corefine.simulation import runs
from corefine.simulation.config import SimulationConfig
from corefine.simulation.rows import AskedRow, QuestionRow, RoundRow, RunInfo, RunTiming

FIRST = "first model"
"""The kind of a run that ends before any question. All runs of one seed and model begin with the same one."""

APART = frozenset("corpus documents protocol selector questions seconds per seed starter threads device".split())
"""Settings that are not part of a run's kind: they are shown elsewhere, or hardly change results."""

TENTHS = 10
"""The questions of a document are counted by tenths of their sequence."""


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """What was asked in each tenth of the documents' questions.

    initial    questions that asked "same entity?"; `yes` counts those answered yes
    score      the sum of the selector's scores
    settled    mentions that needed no question any more
    """

    asked: list[float]
    initial: list[float]
    yes: list[float]
    score: list[float]
    settled: list[float]

    @classmethod
    def of(cls, questions: Iterable[QuestionRow]) -> QuestionCounts:
        of_document: dict[str, list[QuestionRow]] = {}
        for row in questions:
            of_document.setdefault(row.document, []).append(row)
        counts = cls(*([0.0] * TENTHS for _ in range(5)))
        for rows in of_document.values():
            for place, row in enumerate(rows):
                tenth, same = place * TENTHS // len(rows), row.answered.answer.same
                counts.asked[tenth] += 1
                counts.initial[tenth] += same is not None
                counts.yes[tenth] += same is True
                counts.score[tenth] += row.answered.question.score
                counts.settled[tenth] += len(row.settled)
        return counts


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One finished run."""

    name: str
    kind: str
    group: str
    info: RunInfo
    rounds: tuple[RoundRow, ...]
    questions: QuestionCounts
    timing: RunTiming

    @property
    def settings(self) -> SimulationConfig:
        return self.info.simulation

    @property
    def recipe(self) -> Recipe | None:
        """The recipe, with defaults for settings added since then; None if nothing was trained."""
        return None if self.info.recipe is None else Recipe.from_dict(self.info.recipe)

    @property
    def corpus(self) -> str:
        """Runs with the same value are compared: the corpus, and the starter if there is one."""
        starter = self.settings.starter
        return self.info.corpus.name + (f" from {Path(starter).name}" if starter else "")

    @property
    def budget(self) -> float:
        """Questions or seconds for each document or each 1,000 tokens."""
        questions, seconds = self.settings.questions, self.settings.seconds
        return float(questions if questions is not None else seconds or 0.0)

    @property
    def seed(self) -> int:
        return self.settings.seed

    @property
    def unit(self) -> str:
        """What the budget counts."""
        what = "questions" if self.settings.questions is not None else "seconds"
        return f"{what} {'a document' if self.settings.per == 'document' else 'per 1,000 tokens'}"

    def score(self, name: str = "conll_f1", split: str = "test") -> float:
        """A score of the last model; on the development documents if there are no test documents."""
        return float(getattr(self.rounds[-1].scores_on(split), name))

    @property
    def hours(self) -> float:
        return self.rounds[-1].hours

    @property
    def asked(self) -> list[AskedRow]:
        """What was asked in each round that annotated a document."""
        return [row.asked for row in self.rounds if row.asked is not None and row.asked.documents]

    @property
    def annotated(self) -> int:
        """Documents that the hours were spent on."""
        documents = [asked.documents for asked in self.asked]
        return max(documents, default=0) if self.settings.spread else sum(documents)

    @property
    def minutes_per_document(self) -> float:
        return 60 * self.hours / self.annotated if self.annotated else 0.0

    @property
    def yes_share(self) -> float:
        """The share of "same entity?" questions that were answered yes, in percent."""
        initial = sum(asked.initial for asked in self.asked)
        return 100 * sum(asked.yes for asked in self.asked) / initial if initial else 0.0

    @property
    def delta_f1(self) -> float:
        """How much the answers improved the labels of the annotated documents: the mean over rounds, or all of it."""
        if self.settings.spread and self.asked:
            return self.asked[-1].after_f1 - self.asked[0].before_f1
        return statistics.fmean(asked.delta_f1 for asked in self.asked) if self.asked else 0.0

    def first(self) -> RunRecord:
        """The run's first model as a run of its own, which asked nothing."""
        info = replace(self.info, simulation=self.settings.with_changes(questions=0.0, seconds=None))
        row = replace(self.rounds[0], final=True, asked=None)
        return replace(self, kind=FIRST, group="main", info=info, rounds=(row,))

    def to_json(self) -> dict[str, Any]:
        questions = asdict(self.questions)
        return {
            "name": self.name,
            "kind": self.kind,
            "group": self.group,
            "config": self.info.to_json(),
            "rounds": [row.to_json() for row in self.rounds],
            "questions": {name: [round(value, 3) for value in values] for name, values in questions.items()},
            "timing": {
                "total": round(self.timing.total, 1),
                **{name: round(value, 2) for name, value in self.timing.parts.items()},
            },
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> RunRecord:
        return cls(
            name=fields["name"],
            kind=fields["kind"],
            group=fields["group"],
            info=RunInfo.from_json(fields["config"]),
            rounds=tuple(map(RoundRow.from_json, fields["rounds"])),
            questions=QuestionCounts(**fields["questions"]),
            timing=RunTiming.from_json(fields["timing"]),
        )


def record_of(folder: Path, *, kind: str | None = None, group: str = "main") -> RunRecord:
    """The record of a finished run's folder."""
    rounds = runs.read_rows(folder / runs.ROUNDS, RoundRow.from_json)
    if not rounds or not rounds[-1].final:
        raise InputError(
            f"the run in {folder} is not finished: resume it with `corefine simulate --out {folder} --resume`"
        )
    info = runs.read_info(folder)
    return RunRecord(
        name=folder.name,
        kind=kind or _kind(info.simulation),
        group=group,
        info=info,
        rounds=tuple(rounds),
        questions=QuestionCounts.of(runs.read_rows(folder / runs.QUESTIONS, QuestionRow.from_json)),
        timing=runs.read_timing(folder),
    )


def _kind(config: SimulationConfig) -> str:
    """The kind of a run that belongs to no grid: its protocol or selector, and other settings that are not defaults."""
    usual = SimulationConfig().to_dict()
    name = config.protocol if config.selector in ("entropy", "pairwise-entropy") else config.selector
    others = [f"{key} {value}" for key, value in config.to_dict().items() if key not in APART and value != usual[key]]
    return ", ".join([name, *others])


def read_record(path: Path) -> RunRecord:
    """The record in a file."""
    try:
        return RunRecord.from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is not a record of a run: {error}") from error


def load_records(paths: Iterable[Path]) -> list[RunRecord]:
    """The records of run folders, of record files, and of folders that hold either."""
    found: dict[tuple[str, str, float, int], RunRecord] = {}
    for record in (record for path in paths for record in _load(path)):
        key = (record.corpus, record.kind, record.budget, record.seed)
        if key in found and found[key].rounds != record.rounds:
            raise InputError(
                f"two different runs are {record.kind} with a budget of {record.budget:g} and seed {record.seed} on "
                f"{record.corpus}: {found[key].name} and {record.name}; plot them separately"
            )
        found[key] = record
    if not found:
        raise InputError("there is no finished run here: give run folders, or the rows of a reproduction")
    return list(found.values())


def _load(path: Path) -> list[RunRecord]:
    if path.is_file():
        return [read_record(path)]
    if not path.is_dir():
        raise InputError(f"{path} is neither a run's folder nor a file of rows")
    if (path / runs.CONFIG).is_file():
        return [record_of(path)]
    if (path / "rows").is_dir():  # the folder of a reproduction
        return _load(path / "rows")
    found = [read_record(file) for file in sorted(path.glob("*.json"))]
    for folder in sorted(each for each in path.iterdir() if each.is_dir()):
        if not (folder / runs.CONFIG).is_file() or runs.is_finished(folder):
            found += _load(folder)
    return found


def first_models(records: Iterable[RunRecord]) -> list[RunRecord]:
    """The first model of each seed. Those of committees, which are better than a single model, are left out."""
    return list({record.seed: record.first() for record in records if record.settings.members == 1}.values())


def by_seed(records: Iterable[RunRecord], kind: str, budget: float) -> dict[int, RunRecord]:
    """The runs of one kind and budget."""
    return {record.seed: record for record in records if record.kind == kind and record.budget == budget}


MEASURES: dict[str, Callable[[RunRecord], float]] = {
    "conll_f1": lambda record: record.score(),
    "dev_f1": lambda record: record.score(split="dev"),
    "mention_f1": lambda record: record.score("mention_f1"),
    "pronoun_f1": lambda record: record.score("pronoun_f1"),
    "hours": lambda record: record.hours,
    "minutes": lambda record: record.minutes_per_document,
    "delta_f1": lambda record: record.delta_f1,
    "yes_share": lambda record: record.yes_share,
}


@dataclass(frozen=True, slots=True)
class SeedMeans:
    """Runs of one kind and budget with different seeds."""

    kind: str
    budget: float
    records: tuple[RunRecord, ...]

    @property
    def seeds(self) -> int:
        return len(self.records)

    def mean(self, measure: str) -> float:
        return statistics.fmean(map(MEASURES[measure], self.records))

    def spread(self, measure: str) -> float:
        """The sample standard deviation; 0 for a single seed."""
        return statistics.stdev(map(MEASURES[measure], self.records)) if len(self.records) > 1 else 0.0


def points(records: Iterable[RunRecord]) -> list[SeedMeans]:
    """Records grouped by kind and budget, in that order."""
    grouped: dict[tuple[str, float], list[RunRecord]] = {}
    for record in records:
        grouped.setdefault((record.kind, record.budget), []).append(record)
    return [SeedMeans(kind, budget, tuple(group)) for (kind, budget), group in sorted(grouped.items())]
