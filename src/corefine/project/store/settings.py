"""The settings of a project, and where they are kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from corefine.annotation.cost import CostModel
from corefine.annotation.log import Budget
from corefine.annotation.question import Protocol
from corefine.annotation.selectors import SELECTORS
from corefine.document import Document
from corefine.errors import ConfigError
from corefine.project.store import schema

GUIDELINES = """\
# What to annotate

Two mentions are the same entity when they refer to the same person, thing, place or event.

- Mark the longest span that names the entity: *the old man with the dog*, not *man*.
- Pronouns and possessives count: *she*, *her*.
- If you cannot tell, say so: *unsure* is an answer.
"""

MOST = 10_000_000
"""The largest budget or lease."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a project asks.

    mode                      which questions: see `corefine.annotation.question.Protocol`
    selector                  which question next
    infer_first               see `corefine.links.Links`
    budget_per_1000_tokens    questions a document, by its length; the default is the paper's 20 a document
    budget_questions          the same for every document instead
    budget_seconds            a person's time for each document
    overlap                   share of documents that several people annotate, for agreement
    overlap_people            how many people those
    retrain_every             answers after which the model is trained again; 0 is never
    lease_minutes             how long a document stays with a person who does nothing
    """

    mode: str = "discrete"
    selector: str = "entropy"
    infer_first: bool = False
    budget_per_1000_tokens: float | None = 43.0
    budget_questions: int | None = None
    budget_seconds: float | None = None
    overlap: float = 0.0
    overlap_people: int = 2
    retrain_every: int = 50
    lease_minutes: float = 60.0

    def __post_init__(self) -> None:
        if self.mode not in set(Protocol):
            raise ConfigError(f"there is no mode {self.mode!r}; choose one of {', '.join(Protocol)}")
        if self.selector not in SELECTORS:
            raise ConfigError(f"there is no selector {self.selector!r}; choose one of {', '.join(SELECTORS)}")
        if self.selector == "committee":
            raise ConfigError("the selector 'committee' needs several models; a project trains one: choose another")
        if not 0.0 <= self.overlap <= 1.0:
            raise ConfigError(f"overlap is a share from 0 to 1, not {self.overlap}")
        for name in ("budget_per_1000_tokens", "budget_questions", "budget_seconds", "lease_minutes"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= MOST:
                raise ConfigError(f"{name} must be above 0 and at most {MOST}, not {value}")
        if self.overlap_people < 2 or self.retrain_every < 0:
            raise ConfigError("overlap_people is at least 2, retrain_every at least 0")

    @property
    def protocol(self) -> Protocol:
        return Protocol(self.mode)

    def selector_name(self) -> str:
        """The selector, or the one that a mode asks for where the usual ones would ask beside the point."""
        own = {Protocol.PAIRWISE: "pairwise-entropy", Protocol.MENTIONS: "mention-entropy"}
        return self.selector if self.selector == "random" else own.get(self.protocol, self.selector)

    def budget(self, document: Document) -> Budget:
        return Budget(self.questions(len(document)), self.budget_seconds)

    def questions(self, tokens: int) -> int | None:
        """How many questions a document of this length gets; None is no limit."""
        if self.budget_questions is not None:
            return self.budget_questions
        if self.budget_per_1000_tokens is None:
            return None
        return max(1, round(self.budget_per_1000_tokens * tokens / 1000))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        known = {field.name for field in fields(cls)}
        for name in values:
            if name not in known:
                raise ConfigError(f"there is no setting {name!r}; there are {', '.join(sorted(known))}")
        return cls(**values)


def get(connection: Connection, name: str, default: Any = None) -> Any:
    """A value by name."""
    row = connection.execute(select(schema.settings.c.value).where(schema.settings.c.name == name)).first()
    return default if row is None else json.loads(row.value)


def put(connection: Connection, name: str, value: Any) -> None:
    connection.execute(delete(schema.settings).where(schema.settings.c.name == name))
    connection.execute(insert(schema.settings).values(name=name, value=json.dumps(value)))


def load(connection: Connection) -> Settings:
    return Settings.from_dict(get(connection, "project", {}))


def load_cost(connection: Connection) -> CostModel:
    """The project's own cost model, once `corefine times` has set it."""
    return CostModel(**get(connection, "cost", {}))
