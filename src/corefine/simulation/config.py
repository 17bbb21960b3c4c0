"""The settings of a simulated run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from corefine import plugins
from corefine.annotation.cost import CostModel
from corefine.annotation.question import Protocol
from corefine.config import Config, NonNegativeFloat, NonNegativeInt, PositiveInt, Share, ShareBelow1, setting
from corefine.errors import ConfigError
from corefine.models.training.recipe import TrainingConfig, check_labels

FULL = "full"
"""No questions: whole documents are labelled, as many as fit into the time of the questions."""

GOLD = "gold"
"""No questions: all documents get their gold labels in one round."""

NEW_FIELD: Mapping[str, Any] = {
    "initial": 0.0,
    "starter": "starter",
    "documents": 24,
    "rounds": 4,
    "recipe": "app",
    "start": "first",  # always from the starter, with all answers so far
}
"""Settings for a field without gold: a model from elsewhere asks, and learns as in the annotation app."""

LEARNING: Mapping[str, Any] = {"labels": "linked", "start": "first", "spread": True, "rounds": 4}
"""How to learn from answers: as the annotation app does, which asks, learns and asks again."""


@dataclass(frozen=True, slots=True)
class SimulationConfig(Config):
    """One run: corpus, protocol, budget, labels, learner, seed."""

    panels: ClassVar[Mapping[str, str]] = {
        "corpus": "Corpus", "protocol": "Questions", "questions": "Budget", "infer_first": "Questions",
        "labels": "Learning", "tagger": "Running",
    }  # fmt: skip

    corpus: str = setting("litbank", "Corpus: a name of the registry, a file or folder, or 'stories'.")
    documents: NonNegativeInt = setting(0, "Training documents to use, at most; 0 for all.")
    initial: ShareBelow1 = setting(0.25, "Share of the training documents that is labelled from the start.")
    documents_per_round: NonNegativeInt = setting(
        0, "Documents annotated in each round; 0: a tenth of the training documents."
    )
    rounds: NonNegativeInt = setting(0, "Rounds; 0: enough for all documents.")
    spread: bool = setting(False, "Whether each round asks about all documents, and spends its part of the budget.")

    protocol: Literal["discrete", "pairwise", "follow-up", "mentions", "full", "gold"] = setting(
        "discrete", "discrete, pairwise, follow-up (also: discrete-only), mentions; full or gold label whole documents."
    )
    selector: str = setting("entropy", "How the next mention to ask about is chosen.")
    sample: ShareBelow1 = setting(
        0.0, "Share of the questions about random mentions, besides those that the selector chooses."
    )
    clustered: bool = setting(True, "Whether selectors sum over clusters.", flag="--clustered/--unclustered")
    closure: Literal["incremental", "per-document", "off"] = setting(
        "incremental", "When links are closed: incremental, per-document, or off."
    )

    questions: NonNegativeFloat | None = setting(40.0, "Budget in questions; leave out to budget in seconds.")
    seconds: NonNegativeFloat | None = setting(None, "Budget in seconds of annotation.")
    per: Literal["1000-tokens", "document"] = setting("1000-tokens", "What a budget is for: 1000-tokens or document.")
    equal_time: Literal["every", "pairwise", "off"] = setting(
        "every", "Which runs get the time of discrete questions by entropy instead of the number of questions."
    )
    least_gain: Share = setting(
        0.0, "Stop asking about a document when no answer would differ from the model's guess with this probability."
    )
    least_per_hour: NonNegativeFloat = setting(
        0.0, "Stop asking about a document when an hour of its questions would bring fewer corrections than this."
    )
    read_at_most: NonNegativeInt = setting(
        0, "Annotate only this many documents per round, the most uncertain; 0: all."
    )

    infer_first: bool = setting(False, "Whether 'f is the first appearance' also says that f has no antecedent.")
    annotator: str = setting("gold", "Who answers: gold, or your own annotator (module:attribute).")
    groups: bool = setting(
        False, "Whether one question can be about several mentions with the same words (discrete only)."
    )
    nearest: bool = setting(False, "Whether the annotator marks the nearest antecedent instead of the first.")
    error_rate: Share = setting(0.0, "Share of answers that are wrong on purpose.")

    labels: str = setting(
        "pseudo", "What annotated documents teach: pseudo, fitted, answered, mix, certain, linked or kept."
    )
    rest: NonNegativeFloat = setting(TrainingConfig().rest, "labels = mix: weight of the rows that nobody answered.")
    learner: str = setting(
        "model",
        "model (a network is trained); rules, or a model of your own (module:attribute), learn nothing.",
    )
    recipe: str = setting("simulation", "The model and its training: a recipe's name or a TOML file.")
    vectors: str | None = setting(None, "A file of word vectors, for the recipe paper.")
    set: tuple[str, ...] = setting((), "Change a setting of the recipe, such as training.epochs=5; may be repeated.")
    round_training: Literal["converge", "shortcut"] = setting(
        "converge", "Training within rounds: converge (on all labelled documents) or shortcut."
    )
    round_epochs: PositiveInt = setting(1, "shortcut: epochs in each round.")
    round_documents: NonNegativeInt = setting(
        16, "shortcut: documents a warm round trains on, half of them new; 0 for all."
    )
    committee: NonNegativeInt = setting(0, "Members of the committee; 0: 3 if the selector is committee, else 1.")
    start: Literal["warm", "scratch", "first"] = setting(
        "warm",
        "What trainings begin with: warm (the last round's model; scratch at the end), scratch, or first (the first "
        "round's model, also at the end).",
    )
    starter: str | None = setting(
        None, "A model to begin with: a folder of `corefine train`, starter, strong, rules or module:attribute."
    )

    tagger: str | None = setting(
        None, "A spaCy pipeline that finds pronouns, for pronoun F1; by default, word lists find them."
    )
    metric: tuple[str, ...] = setting((), "A metric of your own (module:attribute), for the rounds; may be repeated.")
    seed: int = setting(0, "Seed of everything random: split, order of documents, weights.")
    threads: PositiveInt = setting(1, "Threads of torch. Results depend on it.")
    device: str = setting("auto", "auto, cpu, cuda or mps. Results differ between devices in their last digits.")
    cost_initial: NonNegativeFloat = setting(CostModel().initial, "Seconds for 'same entity?'.")
    cost_follow_up: NonNegativeFloat = setting(CostModel().follow_up, "Seconds for the first appearance, after a no.")
    cost_follow_up_alone: NonNegativeFloat = setting(CostModel().follow_up_alone, "Seconds for the same, asked alone.")
    cost_group_mention: NonNegativeFloat = setting(
        CostModel().group_mention, "Seconds for each mention of a group, in addition to 'same entity?'."
    )

    cost_mention: NonNegativeFloat = setting(CostModel().mention, "Seconds for 'is this a mention?'.")

    def _check(self) -> None:
        # imports numpy, which `corefine --help` does not need
        from corefine.annotation.selectors import SELECTORS, is_selector

        if not is_selector(self.selector):
            allowed = ", ".join(sorted(SELECTORS))
            raise ConfigError(f"SimulationConfig: selector must be one of {allowed}, not {self.selector!r}")
        check_labels(self.labels, "SimulationConfig")
        if self.annotator != "gold" and not plugins.known("annotators", self.annotator):
            raise ConfigError(f"SimulationConfig: annotator must be gold or module:attribute, not {self.annotator!r}")
        if self.learner not in ("model", "rules") and not plugins.known("models", self.learner):
            raise ConfigError(f"SimulationConfig: learner: model, rules or module:attribute, not {self.learner!r}")
        for metric in self.metric:
            if not plugins.known("metrics", metric):
                raise ConfigError(f"SimulationConfig: metric must be module:attribute, not {metric!r}")
        if (self.questions is None) == (self.seconds is None):
            raise ConfigError("a budget is in questions or in seconds: give one of the two")
        if self.protocol == "mentions" and self.selector not in ("mention-entropy", "random"):
            raise ConfigError(f"the selector {self.selector!r} does not fit mentions: choose mention-entropy or random")
        pairs = self.selector == "pairwise-entropy"
        if pairs != (self.protocol == "pairwise") and self.selector != "random" and self.protocol not in (FULL, GOLD):
            raise ConfigError(
                f"the selector {self.selector!r} does not fit the protocol {self.protocol!r}: "
                "pairwise-entropy and random choose pairwise questions, all but pairwise-entropy choose others"
            )
        if self.groups and (self.protocol != "discrete" or self.closure != "incremental"):
            raise ConfigError("groups = true needs protocol = discrete and closure = incremental")
        if self.spread and not self.rounds:
            raise ConfigError("spread = true needs a number of rounds, which share the budget")
        if self.spread and self.read_at_most:
            raise ConfigError("spread = true asks about all documents in each round, so read_at_most must be 0")
        if not self.initial and self.trains and self.starter is None:
            raise ConfigError("initial = 0 leaves nothing to learn from: name a starter, or label some documents")
        if self.selector == "committee" and self.members < 2:
            raise ConfigError("the selector 'committee' needs a committee of 2 or more")
        if self.selector == "committee" and not self.trains:
            raise ConfigError(f"the learner {self.learner!r} trains no committee: use another selector or learner")

    @property
    def trains(self) -> bool:
        """Whether a network is trained."""
        return self.learner == "model"

    @property
    def asks(self) -> bool:
        """Whether questions are asked; otherwise whole documents are labelled."""
        return self.protocol not in (FULL, GOLD)

    def share_spent(self, round: int) -> float:
        """The share of a document's budget that may be spent by the end of a round in which it is asked about."""
        return (round + 1) / self.rounds if self.spread else 1.0

    @property
    def members(self) -> int:
        """How many models are trained."""
        return self.committee or (3 if self.selector == "committee" else 1)

    @property
    def cost(self) -> CostModel:
        return CostModel(
            self.cost_initial,
            self.cost_follow_up,
            self.cost_follow_up_alone,
            group_mention=self.cost_group_mention,
            mention=self.cost_mention,
        )

    @classmethod
    def _completed(cls, values: dict[str, Any]) -> dict[str, Any]:
        if values.get("protocol") == "discrete-only":
            values["protocol"] = Protocol.FOLLOW_UP.value
        own_selectors = {Protocol.PAIRWISE.value: "pairwise-entropy", Protocol.MENTIONS.value: "mention-entropy"}
        if values.get("protocol") in own_selectors and values.get("selector", "entropy") == "entropy":
            values["selector"] = own_selectors[values["protocol"]]
        if isinstance(equal := values.get("equal_time"), bool):  # as it was before there were three ways
            values["equal_time"] = "every" if equal else "off"
        if values.get("seconds") is not None and "questions" not in values:
            values["questions"] = None
        return values

    def with_changes(self, **changes: Any) -> SimulationConfig:
        """The same with some settings changed."""
        return replace(self, **changes)
