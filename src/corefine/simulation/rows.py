"""What the files of a run hold, as types: the description of the run, its rounds, its questions and its timings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from corefine.annotation.log import AnswerEntry
from corefine.annotation.question import Answer, span_from_json, span_to_json
from corefine.document import Span
from corefine.simulation.config import SimulationConfig

SPLITS = ("dev", "test")


@dataclass(frozen=True, slots=True)
class ModelScores:
    """F1 of a model on one split, in percent; `pronoun_f1` is CoNLL F1 of the clusters that hold a pronoun.

    own    F1 of metrics from outside, by name
    """

    conll_f1: float
    muc_f1: float
    b3_f1: float
    ceafe_f1: float
    mention_f1: float
    pronoun_f1: float
    own: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        if not self.own:
            del fields["own"]
        return fields


@dataclass(frozen=True, slots=True)
class AskedRow:
    """What the annotation of a round's documents came to.

    initial      questions that asked "same entity?"; `yes` counts those answered yes
    passed       answers that contradicted earlier ones and were not taken
    settled      mentions that needed no question any more
    pairs        pairs of mentions newly known to be, or not to be, the same entity
    before_f1    CoNLL F1 of the prediction, or of the labels that earlier rounds left
    after_f1     CoNLL F1 of the labels after the answers; they link by the threshold alone, predictions perhaps by
                 sums, which makes a difference of up to half a point
    """

    documents: int
    tokens: int
    questions: int
    initial: int
    yes: int
    passed: int
    settled: int
    pairs: int
    seconds: float
    before_f1: float
    after_f1: float
    delta_f1: float


@dataclass(frozen=True, slots=True)
class RoundRow:
    """One line of rounds.jsonl.

    documents    that the round's model was trained on; `hours` is the annotation that went into them
    scores       of the round's model, by split; a split without documents is left out
    asked        None in the last round, which asks nothing
    seconds      of annotation so far, this round included
    left         seconds that were not spent, which the next round may spend
    """

    round: int
    final: bool
    documents: int
    hours: float
    scores: dict[str, ModelScores]
    asked: AskedRow | None
    seconds: float
    left: float

    def scores_on(self, split: str) -> ModelScores:
        """The scores on a split; on the development documents if the corpus has no such split."""
        return self.scores.get(split) or self.scores["dev"]

    def to_json(self) -> dict[str, Any]:
        scores = {split: self.scores[split].to_json() if split in self.scores else {} for split in SPLITS}
        return {**asdict(self), "scores": scores}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> RoundRow:
        scores = {split: ModelScores(**found) for split, found in fields["scores"].items() if found}
        asked = None if fields["asked"] is None else AskedRow(**fields["asked"])
        return cls(**{**fields, "scores": scores, "asked": asked})


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One line of questions.jsonl, without the number of the round.

    settled    mentions that need no question any more
    pairs      pairs of mentions newly known to be, or not to be, the same entity
    passed     whether the answer contradicted earlier ones and was not taken
    """

    document: str
    answered: AnswerEntry
    settled: tuple[Span, ...]
    pairs: int
    passed: bool = False

    @property
    def taken(self) -> AnswerEntry:
        """The answer as the session took it."""
        return replace(self.answered, answer=Answer.unsure()) if self.passed else self.answered

    def to_json(self) -> dict[str, Any]:
        return {
            "document": self.document,
            **self.answered.to_json(),
            **({"passed": True} if self.passed else {}),
            "settled": len(self.settled),
            "pairs": self.pairs,
            "inferred": [span_to_json(span) for span in self.settled],
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> QuestionRow:
        settled = tuple(map(span_from_json, fields["inferred"]))
        passed = fields.get("passed", False)
        return cls(fields["document"], AnswerEntry.from_json(fields), settled, fields["pairs"], passed)


@dataclass(frozen=True, slots=True)
class RunTiming:
    """Seconds that a round, or a whole run, took on this machine.

    parts    by what they went into; "selection" and "closure" are also part of "annotation"
    """

    total: float
    parts: dict[str, float]

    @property
    def choosing(self) -> float:
        """The share of selection and closure together."""
        return (self.parts["selection"] + self.parts["closure"]) / self.total if self.total else 0.0

    @classmethod
    def sum(cls, timings: Iterable[RunTiming]) -> RunTiming:
        total = 0.0
        parts = {"selection": 0.0, "closure": 0.0}
        for timing in timings:
            total += timing.total
            for name, seconds in timing.parts.items():
                parts[name] = parts.get(name, 0.0) + seconds
        return cls(total, parts)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> RunTiming:
        return cls(fields["total"], {name: fields[name] for name in fields if name not in ("round", "total")})


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """A corpus by its name, the number of documents in each split, and a hash of its texts and gold clusters."""

    name: str
    train: int
    dev: int
    test: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Everything that the results of a run depend on: config.json.

    corefine    the version
    code        a hash of the source, see `code_hash`
    recipe      of the model and its training, as JSON; None if nothing is trained
    starter     the hash of the weights that training begins with; None for new weights
    """

    corefine: str
    code: str
    simulation: SimulationConfig
    recipe: dict[str, Any] | None
    corpus: CorpusInfo
    starter: str | None = None

    def to_json(self) -> dict[str, Any]:
        fields = {
            "corefine": self.corefine,
            "code": self.code,
            "simulation": self.simulation.to_dict(),
            "recipe": self.recipe,
            "corpus": asdict(self.corpus),
        }
        return fields if self.starter is None else {**fields, "starter": self.starter}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> RunInfo:
        before = {"round_training": "shortcut", "device": "cpu"}  # what runs did before these settings existed
        settings = before | fields["simulation"]
        if settings.get("equal_time") is True:
            settings["equal_time"] = "pairwise"  # only these had it then
        simulation = SimulationConfig.from_dict(settings)
        return cls(**{**fields, "simulation": simulation, "corpus": CorpusInfo(**fields["corpus"])})
