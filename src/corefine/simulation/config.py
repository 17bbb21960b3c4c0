"""Every setting of a simulated run, from flags or a TOML file, and nothing else."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from corefine.annotation.cost import CostModel
from corefine.annotation.labels import LABEL_POLICIES
from corefine.annotation.question import Protocol
from corefine.errors import ConfigError
from corefine.models.network.config import Config
from corefine.models.training.recipe import TrainingConfig

FULL = "full"
"""The protocol that is none: whole documents are labelled."""

PROTOCOLS = (Protocol.DISCRETE.value, Protocol.PAIRWISE.value, Protocol.FOLLOW_UP.value, FULL)
ALIASES = {"discrete-only": Protocol.FOLLOW_UP.value}
PER = ("1000-tokens", "document")
LEARNERS = ("model", "rules")
STARTS = ("warm", "scratch")


def setting(default: Any, help: str) -> Any:
    """A field with the sentence that command line, TOML file and documentation show."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class SimulationConfig(Config):
    """One run: corpus, protocol, budget, labels, learner, seed."""

    corpus: str = setting("litbank", "Corpus: a name of the registry, a file or folder, or 'stories'.")
    documents: int = setting(0, "Training documents to use, at most; 0 for all.")
    initial: float = setting(
        0.25, "Share of the training documents that is fully labelled from the start; 0 if there is a starter."
    )
    documents_per_round: int = setting(8, "Documents annotated in each round.")
    rounds: int = setting(0, "Rounds, instead of documents a round; 0 leaves it to documents_per_round.")

    protocol: str = setting("discrete", "discrete, pairwise, follow-up (also: discrete-only), or full.")
    selector: str = setting("entropy", "Which mention is asked about next.")
    clustered: bool = setting(True, "Whether selectors sum probabilities over clusters (the ablation: false).")
    closure: str = setting("incremental", "When links are closed: incremental, per-document, or off.")

    questions: float | None = setting(40.0, "Budget in questions; leave out to budget in seconds.")
    seconds: float | None = setting(None, "Budget in seconds of annotation.")
    per: str = setting("1000-tokens", "What a budget is for: 1000-tokens or document.")
    equal_time: bool = setting(True, "Pairwise: spend on each document what discrete questions would.")
    read_at_most: int = setting(0, "Documents of a round that are read, the most uncertain; 0 for all.")

    infer_first: bool = setting(False, "Whether 'f is the first appearance' also says that f has no antecedent.")
    nearest: bool = setting(False, "Whether the annotator marks the nearest antecedent instead of the first.")
    error_rate: float = setting(0.0, "Share of answers that are wrong on purpose.")

    labels: str = setting(TrainingConfig().labels, "What annotated documents teach: pseudo, answered, mix, or certain.")
    rest: float = setting(TrainingConfig().rest, "labels = mix: what a row that nobody answered weighs.")

    learner: str = setting("model", "model (a network is trained) or rules (nothing is trained).")
    recipe: str = setting("simulation", "The model and its training: a recipe's name or a TOML file.")
    round_epochs: int = setting(1, "Epochs of training in each round, at most; the last training has the recipe's.")
    round_documents: int = setting(
        16, "Documents a warm round trains on, at most: half the newest, half drawn from the others; 0 for all."
    )
    committee: int = setting(0, "Members of the committee; 0 for 3 where the selector is committee, else 1.")
    start: str = setting("warm", "What a round's training begins with: warm (the last round's model) or scratch.")
    starter: str | None = setting(None, "A model to begin with, as `corefine train` writes it; or 'starter'.")

    seed: int = setting(0, "Of the split, the order of documents, the weights, and all else that is random.")
    threads: int = setting(1, "Threads torch works with. Results depend on it, so it is kept with the run.")
    cost_initial: float = setting(CostModel().initial, "Seconds of 'same entity?'.")
    cost_follow_up: float = setting(CostModel().follow_up, "Seconds of 'mark the first appearance' after a no.")
    cost_follow_up_alone: float = setting(CostModel().follow_up_alone, "Seconds of the same, asked alone.")

    def __post_init__(self) -> None:
        from corefine.simulation.ablation import CLOSURES

        one_of = {
            "protocol": PROTOCOLS,
            "closure": tuple(CLOSURES),
            "per": PER,
            "labels": LABEL_POLICIES,
            "learner": LEARNERS,
            "start": STARTS,
        }
        for name, allowed in one_of.items():
            self._require(getattr(self, name) in allowed, name, f"one of {', '.join(allowed)}")
        self._require(0 <= self.initial < 1, "initial", "at least 0 and below 1")
        self._require(0 <= self.error_rate <= 1, "error_rate", "from 0 to 1")
        for name in ("documents_per_round", "round_epochs", "threads"):
            self._require(getattr(self, name) >= 1, name, "at least 1")
        for name in ("documents", "rounds", "read_at_most", "rest", "committee", "round_documents"):
            self._require(getattr(self, name) >= 0, name, "at least 0")
        for name in ("questions", "seconds"):
            self._require(getattr(self, name) is None or getattr(self, name) >= 0, name, "at least 0")
        if (self.questions is None) == (self.seconds is None):
            raise ConfigError("a budget is in questions or in seconds: give one of the two")
        self._check_selector()

    def _check_selector(self) -> None:
        from corefine.annotation.selectors import SELECTORS

        allowed = sorted(SELECTORS)
        self._require(self.selector in allowed, "selector", f"one of {', '.join(allowed)}")
        pairs = self.selector == "pairwise-entropy"
        if pairs != (self.protocol == Protocol.PAIRWISE) and self.selector != "random" and self.protocol != FULL:
            raise ConfigError(
                f"the selector {self.selector!r} does not fit the protocol {self.protocol!r}: "
                "pairwise questions are chosen by pairwise-entropy or random, others by any other"
            )
        if not self.initial and self.learner == "model" and self.starter is None:
            raise ConfigError("initial = 0 leaves nothing to learn from: name a starter, or label some documents")
        if not self.initial and self.members > 1:
            raise ConfigError("initial = 0: the members of a committee would all be the starter, and never disagree")
        if self.selector == "committee" and self.members < 2:
            raise ConfigError("the selector 'committee' needs a committee of 2 or more")
        if self.selector == "committee" and self.learner == "rules":
            raise ConfigError("the rules have no committee: choose another selector, or learner = 'model'")

    @property
    def members(self) -> int:
        """How many models are trained."""
        return self.committee or (3 if self.selector == "committee" else 1)

    @property
    def cost(self) -> CostModel:
        return CostModel(self.cost_initial, self.cost_follow_up, self.cost_follow_up_alone)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SimulationConfig:
        """The configuration these values describe; the protocol's own selector where none is named."""
        given = dict(values)
        protocol = given.get("protocol", cls.protocol_default())
        given["protocol"] = ALIASES.get(protocol, protocol)
        if given["protocol"] == Protocol.PAIRWISE and given.get("selector", "entropy") == "entropy":
            given["selector"] = "pairwise-entropy"
        if given.get("seconds") is not None and "questions" not in given:
            given["questions"] = None
        return super(SimulationConfig, cls).from_dict(given)

    @staticmethod
    def protocol_default() -> str:
        return Protocol.DISCRETE.value

    def but(self, **changes: Any) -> SimulationConfig:
        """The same with some settings changed."""
        return replace(self, **changes)


def load_settings(path: Path) -> dict[str, Any]:
    """The settings that a TOML file names, unchecked but for being known."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    known = {each.name for each in fields(SimulationConfig)}
    for key in values:
        if key not in known:
            raise ConfigError(f"{path} sets {key!r}, which does not exist; there are {', '.join(sorted(known))}")
    return values


def as_toml(config: SimulationConfig) -> str:
    """The settings as a commented TOML file; what is None is commented out."""
    lines = []
    for each in fields(SimulationConfig):
        value = getattr(config, each.name)
        lines.append(f"# {each.metadata['help']}")
        lines.append(f"# {each.name} =" if value is None else f"{each.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False)
    return repr(value)
