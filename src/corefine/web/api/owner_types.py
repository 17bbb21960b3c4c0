"""What the API says and takes, on the owner's side."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from corefine.web.api.types import AnswerJson, Mode, Person, SpanJson, Strict


class Settings(Strict):
    """The project's settings; sent whole.

    budget_per_1000_tokens    questions a document, by its length; `budget_questions` overrides it for all documents
    overlap                   share of documents that `overlap_people` people annotate, for agreement
    retrain_every             answers after which training starts by itself; 0 is never
    """

    mode: Mode = "discrete"
    selector: str = "entropy"
    infer_first: bool = False
    budget_per_1000_tokens: Annotated[float, Field(gt=0, le=10_000)] | None = 43.0
    budget_questions: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    budget_seconds: Annotated[float, Field(gt=0, le=10_000_000)] | None = None
    overlap: Annotated[float, Field(ge=0, le=1)] = 0.0
    overlap_people: Annotated[int, Field(ge=2, le=20)] = 2
    retrain_every: Annotated[int, Field(ge=0, le=1_000_000)] = 50
    lease_minutes: Annotated[float, Field(gt=0, le=100_000)] = 60.0


class Skipped(BaseModel):
    file: str
    reason: str


class Upload(BaseModel):
    added: list[int]
    skipped: list[Skipped]


class NewPerson(Strict):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    role: Literal["owner", "annotator"] = "annotator"


class Invitation(BaseModel):
    """The link is shown once: only a hash of its token is kept."""

    person: Person
    link: str


class PersonRow(Person):
    active: bool
    answers: int
    seconds: float
    documents_done: int
    questions_per_hour: float | None
    last_seen: str | None


class CurvePoint(BaseModel):
    """One model version: `f1` on held-out gold where there is any; `accepted` share of its proposals."""

    version: int
    name: str
    answers: int
    f1: float | None
    accepted: float | None
    asked: int
    at: str


class Dashboard(BaseModel):
    documents: int
    documents_done: int
    answers: int
    hours: float
    questions_per_hour: float | None
    curve: list[CurvePoint]
    people: list[PersonRow]
    training: TrainingStatus


class TrainingStatus(BaseModel):
    """`state` of the background process; `message` tells what failed, if something did."""

    state: Literal["idle", "predicting", "training", "failed", "stopped"]
    version: int
    message: str | None
    share_done: float | None
    answers_since: int
    retrain_every: int


class PairScore(BaseModel):
    """Agreement of two people; F1 in percent, kappa on yes/no where both were asked about the same pair."""

    document: int | None
    name: str
    a: str
    b: str
    kappa: float | None
    questions: int
    muc: float
    b3: float
    ceafe: float
    lea: float
    conll: float


class Agreement(BaseModel):
    total: list[PairScore]
    documents: list[PairScore]


class Version(BaseModel):
    """What one person's answers make of a mention: the earliest mention of its entity, None if it is none."""

    person: str
    first: SpanJson | None
    first_text: str | None
    mention: bool
    answer: AnswerJson | None


class Difference(BaseModel):
    """A mention on which people differ; `decision` is the owner's, once made."""

    id: str
    document: int
    document_name: str
    mention: SpanJson
    mention_text: str
    sentence: int
    versions: list[Version]
    decision: Decision | None


class Decision(Strict):
    """`first` is the mention itself where it is the first of its entity; `mention` false: it is no mention."""

    mention: bool = True
    first: SpanJson | None = None


class DecisionRequest(Strict):
    document: int
    mention: SpanJson
    decision: Decision | None


class Adjudication(BaseModel):
    differences: list[Difference]
    open: int


class ExportFormat(BaseModel):
    """`ending` is empty where several files come as a zip; `missing` says why it cannot be had yet."""

    name: str
    ending: str
    about: str
    missing: str | None


Dashboard.model_rebuild()
Difference.model_rebuild()
