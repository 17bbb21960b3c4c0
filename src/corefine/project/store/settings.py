"""The settings of a project, and where they are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from sqlalchemy import Connection, delete, insert, select

from corefine import plugins
from corefine.annotation.cost import CostModel
from corefine.annotation.log import Budget
from corefine.annotation.question import Protocol
from corefine.annotation.selectors import SELECTORS, is_selector
from corefine.config import Config, Limit, NonNegativeFloat, NonNegativeInt, Share, ShareBelow1, at_least, setting
from corefine.document import Document
from corefine.errors import ConfigError
from corefine.formats.languages import NAMES
from corefine.project.store import schema

GUIDELINES = """\
# What to annotate

Two mentions are the same entity when they refer to the same person, thing, place or event.

- Mark the longest span that names the entity: *the old man with the dog*, not *man*.
- Pronouns and possessives count: *she*, *her*.
- If you cannot tell, say so: *unsure* is an answer.
"""


HELD_BACK = "held_back"
"""The key under which each version's fit to the held-back answers is stored."""

RESTORED = "restored"
"""The key under which the time of the last restored backup is stored."""

AUTO = "auto"
LANGUAGES: Mapping[str, str] = {AUTO: "detected from the text", **NAMES}
"""The languages that a project can have, with their names."""
MOST = 10_000_000
LIMIT = Limit(f"above 0 and at most {MOST}", lambda value: 0 < value <= MOST)


@dataclass(frozen=True, slots=True)
class ProjectConfig(Config):
    """How a project asks."""

    renamed: ClassVar[Mapping[str, str]] = {"mode": "protocol"}

    protocol: Protocol = setting(Protocol.DISCRETE, "What is asked: discrete, pairwise, follow-up or mentions.")
    model: str = setting("starter", "The model to begin with: a folder, starter, strong, rules or module:attribute.")
    selector: str = setting("likely-entropy", "How the next mention to ask about is chosen.")
    sample: ShareBelow1 = setting(
        0.0, "Share of the questions about random mentions, besides those that the selector chooses."
    )
    language: str = setting(
        "auto", "The language of documents that are added: a code such as nl, or auto to detect it."
    )
    infer_first: bool = setting(False, "Whether 'f is the first appearance' also says that f has no antecedent.")
    budget_per_1000_tokens: Annotated[float, LIMIT] | None = setting(43.0, "Questions for each 1,000 tokens.")
    budget_questions: Annotated[int, LIMIT] | None = setting(
        None, "Questions for each document, regardless of its length."
    )
    budget_seconds: Annotated[float, LIMIT] | None = setting(None, "Seconds of a person's time for each document.")
    least_gain: Share = setting(
        0.05, "A document ends when no answer has at least this probability of correcting the model; 0: never."
    )
    least_per_hour: NonNegativeFloat = setting(
        0.0, "A document ends when an hour of its questions would bring fewer corrections than this; 0: never."
    )
    least_proposal: Share = setting(
        0.1, "The probability that an entity needs to be proposed; below it, only the first appearance is asked for."
    )
    groups: bool = setting(
        True, "Whether one question can be about several mentions with the same words (discrete only)."
    )
    overlap: Share = setting(0.0, "Share of documents that several people annotate, for agreement.")
    overlap_people: Annotated[int, at_least(2)] = setting(2, "How many people annotate each of those.")
    retrain_every: NonNegativeInt = setting(50, "Answers after which the model is trained again; 0 is never.")
    hold_back: bool = setting(
        True,
        "Hold every tenth answer back from training, and reject a new model that explains them much worse, or that "
        "loses F1 on held-out documents.",
    )
    paused: bool = setting(False, "Whether the project is paused: nobody is asked anything.")
    lease_minutes: Annotated[float, LIMIT] = setting(60.0, "How long a document stays with a person who does nothing.")

    def _check(self) -> None:
        if self.protocol is Protocol.GROUP:
            raise ConfigError("ProjectConfig: 'group' is not a protocol of its own: it is the setting groups")
        if not is_selector(self.selector):
            allowed = ", ".join(SELECTORS)
            raise ConfigError(f"ProjectConfig: selector must be one of {allowed}, not {self.selector!r}")
        checked_language(self.language)

    @property
    def language_code(self) -> str | None:
        """The language of documents that are added; None if it is to be detected."""
        return checked_language(self.language)

    def selector_name(self) -> str:
        """The selector, or the only one that fits the protocol."""
        fitting = {Protocol.PAIRWISE: "pairwise-entropy", Protocol.MENTIONS: "mention-entropy"}
        return self.selector if self.selector == "random" else fitting.get(self.protocol, self.selector)

    def sampled_share(self) -> float:
        """The share of questions about random mentions; 0 for protocols that cannot settle a mention."""
        return self.sample if self.protocol in (Protocol.DISCRETE, Protocol.FOLLOW_UP) else 0.0

    def budget(self, document: Document, cost: CostModel) -> Budget:
        least_gain = max(self.least_gain, cost.least_gain(self.least_per_hour, self.protocol))
        return Budget(self.questions(len(document)), self.budget_seconds, least_gain)

    def questions(self, tokens: int) -> int | None:
        """How many questions a document of this length gets; None for no limit."""
        if self.budget_questions is not None:
            return self.budget_questions
        if self.budget_per_1000_tokens is None:
            return None
        return max(1, round(self.budget_per_1000_tokens * tokens / 1000))


def checked_language(code: str) -> str | None:
    """The code of a language that has rules; None for "auto". Raises if there is no such language."""
    if code not in LANGUAGES:
        raise ConfigError(f"the language must be {AUTO} or a language code such as nl, not {code!r}")
    return None if code == AUTO else code


def check_code(new: ProjectConfig, present: ProjectConfig) -> None:
    """Raise if settings name Python code (`module:attribute`) that the present ones do not.

    Naming code means running it on the server. Only people with a command line there may do that, not every owner.
    """
    for name in ("model", "selector"):
        value = getattr(new, name)
        if plugins.names_code(value) and value != getattr(present, name):
            raise ConfigError(
                f"{name} names Python code ({value[:100]}), which is allowed on the server's command line only: "
                f"`corefine annotate --{name} {value[:100]}`"
            )


def get(connection: Connection, name: str, default: Any = None) -> Any:
    """The value kept under a name."""
    row = connection.execute(select(schema.settings.c.value).where(schema.settings.c.name == name)).first()
    return default if row is None else json.loads(row.value)


def put(connection: Connection, name: str, value: Any) -> None:
    connection.execute(delete(schema.settings).where(schema.settings.c.name == name))
    connection.execute(insert(schema.settings).values(name=name, value=json.dumps(value)))


def load(connection: Connection) -> ProjectConfig:
    return ProjectConfig.from_dict(get(connection, "project", {}))


def load_cost(connection: Connection) -> CostModel:
    """The project's own cost model, once `corefine times` has set it."""
    return CostModel(**get(connection, "cost", {}))
