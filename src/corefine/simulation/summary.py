"""Runs as compact records: what figures, tables and the repository keep of them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corefine.errors import InputError
from corefine.simulation import runs
from corefine.simulation.config import SimulationConfig

FIRST = "first model"
"""The kind of a run that ends before any question; all runs of a seed with one model begin with the same one."""

APART = {"corpus", "documents", "protocol", "selector", "questions", "seconds", "per", "seed", "starter", "threads"}
"""Settings that the kind of a run does not tell, since something else does or results hardly depend on them."""

TENTHS = 10
"""Questions of a document are summarised in tenths of their sequence."""


@dataclass(frozen=True, slots=True)
class Record:
    """One finished run.

    config       as config.json has it: "simulation", "recipe", "corpus"
    rounds       as rounds.jsonl has them
    questions    counts by tenth of a document's questions: asked, yes, sum of scores, settled
    timing       seconds by what they went into; of the machine, not of the method
    """

    name: str
    kind: str
    group: str
    config: dict[str, Any]
    rounds: list[dict[str, Any]]
    questions: dict[str, list[float]]
    timing: dict[str, float]

    @property
    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = self.config["simulation"]
        return settings

    @property
    def corpus(self) -> str:
        """What runs are compared within: the corpus, and the model they began with if there was one."""
        starter = self.settings.get("starter")
        return str(self.config["corpus"]["name"]) + (f" from {Path(starter).name}" if starter else "")

    @property
    def budget(self) -> float:
        """Questions, or seconds, that a document or 1,000 tokens of it could have."""
        return float(self.settings["questions"] if self.settings["questions"] is not None else self.settings["seconds"])

    @property
    def seed(self) -> int:
        return int(self.settings["seed"])

    @property
    def members(self) -> int:
        """How many models its predictions are the mean of."""
        return SimulationConfig.from_dict(self.settings).members

    @property
    def unit(self) -> str:
        """What its budget counts."""
        what = "questions" if self.settings["questions"] is not None else "seconds"
        return f"{what} {'a document' if self.settings['per'] == 'document' else 'per 1,000 tokens'}"

    @property
    def last(self) -> dict[str, Any]:
        """The row of the last training, from scratch."""
        return self.rounds[-1]

    def score(self, name: str = "conll_f1", split: str = "test") -> float:
        """A score of the last model; on the development documents where there are no test documents."""
        scores = self.last["scores"]
        return float((scores.get(split) or scores["dev"])[name])

    @property
    def hours(self) -> float:
        return float(self.last["hours"])

    @property
    def annotated(self) -> int:
        """Documents that the hours were spent on."""
        return sum(row["asked"]["documents"] for row in self.rounds if row["asked"])

    @property
    def minutes_per_document(self) -> float:
        return 60 * self.hours / self.annotated if self.annotated else 0.0

    @property
    def yes_share(self) -> float | None:
        asked = [row["asked"] for row in self.rounds if row["asked"]]
        initial = sum(each["initial"] for each in asked)
        return sum(each["yes"] for each in asked) / initial if initial else None

    @property
    def delta_f1(self) -> float:
        """What the answers did to the labels of the documents annotated, the mean over rounds."""
        deltas = [row["asked"]["delta_f1"] for row in self.rounds if row["asked"] and row["asked"]["documents"]]
        return statistics.fmean(deltas) if deltas else 0.0

    def first(self) -> Record:
        """Its first model as a run of its own: trained on the documents labelled from the start, or the starter."""
        settings = {**self.settings, "questions": 0.0, "seconds": None}
        row = {**self.rounds[0], "final": True, "asked": None}
        return replace(self, kind=FIRST, group="main", config={**self.config, "simulation": settings}, rounds=[row])

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "group": self.group,
            "config": self.config,
            "rounds": self.rounds,
            "questions": self.questions,
            "timing": self.timing,
        }


def record_of(folder: Path, *, kind: str | None = None, group: str = "main") -> Record:
    """The record of a finished run's folder."""
    rows = runs.read_rows(folder / runs.ROUNDS)
    if not rows or not rows[-1]["final"]:
        raise InputError(f"the run in {folder} is not finished: go on with `corefine simulate --out {folder} --resume`")
    config = runs.read_config(folder)
    shares = runs.time_shares(folder)
    return Record(
        name=folder.name,
        kind=kind or _kind(config["simulation"]),
        group=group,
        config=config,
        rounds=rows,
        questions=_tenths(runs.read_rows(folder / runs.QUESTIONS)),
        timing={"total": round(shares.total, 1), **{name: round(value, 2) for name, value in shares.parts.items()}},
    )


def load_records(paths: Iterable[Path]) -> list[Record]:
    """The records of run folders, of record files, and of folders that hold either."""
    found: dict[tuple[str, str, float, int], Record] = {}
    for record in (record for path in paths for record in _load(path)):
        key = (record.corpus, record.kind, record.budget, record.seed)
        if key in found and found[key].rounds != record.rounds:
            raise InputError(
                f"two different runs are {record.kind} with a budget of {record.budget:g} and seed {record.seed} on "
                f"{record.corpus}: {found[key].name} and {record.name}; plot them apart"
            )
        found[key] = record
    if not found:
        raise InputError("there is no finished run among these: give run folders, or the rows of a reproduction")
    return list(found.values())


def _load(path: Path) -> list[Record]:
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


def first_models(records: Iterable[Record]) -> list[Record]:
    """The first model of each seed; a committee's, which is better than one model, is left aside."""
    return list({record.seed: record.first() for record in records if record.members == 1}.values())


def by_seed(records: Iterable[Record], kind: str, budget: float) -> dict[int, Record]:
    """The runs of one kind and budget."""
    return {record.seed: record for record in records if record.kind == kind and record.budget == budget}


def read_record(path: Path) -> Record:
    """The record in a file."""
    try:
        return Record(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path} is not a record of a run: {error}") from error


def _kind(settings: dict[str, Any]) -> str:
    """What a run that belongs to no grid is called: its protocol or selector, and what else is unlike the defaults."""
    usual = SimulationConfig().to_dict()
    name = settings["protocol"] if settings["selector"] in ("entropy", "pairwise-entropy") else settings["selector"]
    others = [
        f"{key} {value}" for key, value in settings.items() if key not in APART and value != usual.get(key, value)
    ]
    return ", ".join([str(name), *others])


def _tenths(questions: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    of_document: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in questions:
        of_document.setdefault((row["round"], row["document"]), []).append(row)
    counts: dict[str, list[float]] = {name: [0.0] * TENTHS for name in ("asked", "initial", "yes", "score", "settled")}
    for rows in of_document.values():
        for place, row in enumerate(rows):
            tenth = place * TENTHS // len(rows)
            counts["asked"][tenth] += 1
            counts["initial"][tenth] += row["same"] is not None
            counts["yes"][tenth] += row["same"] is True
            counts["score"][tenth] += row["score"]
            counts["settled"][tenth] += row["settled"]
    return {name: [round(value, 3) for value in values] for name, values in counts.items()}


@dataclass(frozen=True, slots=True)
class Point:
    """Runs of one kind and budget over seeds: mean and spread (sample standard deviation)."""

    kind: str
    budget: float
    seeds: int
    values: dict[str, tuple[float, float]]

    def mean(self, name: str) -> float:
        return self.values[name][0]

    def spread(self, name: str) -> float:
        return self.values[name][1]


MEASURES = ("conll_f1", "dev_f1", "mention_f1", "pronoun_f1", "hours", "minutes", "delta_f1", "yes_share")


def points(records: Iterable[Record]) -> list[Point]:
    """Records grouped by kind and budget, in that order."""
    grouped: dict[tuple[str, float], list[Record]] = {}
    for record in records:
        grouped.setdefault((record.kind, record.budget), []).append(record)
    return [_point(kind, budget, group) for (kind, budget), group in sorted(grouped.items())]


def _point(kind: str, budget: float, group: Sequence[Record]) -> Point:
    measured = {
        "conll_f1": [record.score() for record in group],
        "dev_f1": [record.score(split="dev") for record in group],
        "mention_f1": [record.score("mention_f1") for record in group],
        "pronoun_f1": [record.score("pronoun_f1") for record in group],
        "hours": [record.hours for record in group],
        "minutes": [record.minutes_per_document for record in group],
        "delta_f1": [record.delta_f1 for record in group],
        "yes_share": [100 * (record.yes_share or 0.0) for record in group],
    }
    return Point(kind, budget, len(group), {name: _mean_and_spread(values) for name, values in measured.items()})


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0
