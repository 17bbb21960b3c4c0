"""What the API says and takes, on the annotator's side. `docs/api.md` explains it; OpenAPI is made from it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SpanJson = list[int] | list[list[int]]
"""[first, last] token, both inclusive; [[first, last], ...] where a span has gaps."""

Mode = Literal["discrete", "pairwise", "follow-up", "mentions"]
Seconds = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
ClientId = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class Strict(BaseModel):
    """A request body: a field that we do not know is an error, not ignored."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """What went wrong; `kind` is for programs, `message` for people."""

    kind: str
    message: str
    answers: list[HistoryEntry] | None = None
    next: State | None = None


class ErrorBody(BaseModel):
    error: Problem


# Who and where


class Login(Strict):
    token: Annotated[str, Field(min_length=1, max_length=200)]


class Person(BaseModel):
    id: int
    name: str
    role: Literal["owner", "annotator"]


class Me(BaseModel):
    """`auth` is "open" where whoever reaches the server is its owner (loopback without invitations), else "tokens".

    `study` says that a timing study waits for this person.
    """

    person: Person
    auth: Literal["open", "tokens"]
    project: str
    version: str
    mode: Mode
    notices: list[str]
    study: bool


# Documents


class DocumentRow(BaseModel):
    """`state` is the reader's own: new, open (has answers), done, or taken by somebody else."""

    id: int
    name: str
    tokens: int
    state: Literal["new", "open", "done", "taken"]
    ready: bool
    answers: int
    budget: int | None
    settled: float | None
    overlap: bool
    has_gold: bool


class Sentence(BaseModel):
    """`start` is the index of the first token; `spaces[i]` says whether a space follows token i."""

    start: int
    tokens: list[str]
    spaces: list[bool]
    speaker: str | None
    paragraph: bool


class DocumentText(BaseModel):
    id: int
    name: str
    language: str | None
    tokens: int
    rtl: bool
    sentences: list[Sentence]


class MentionView(BaseModel):
    """`source`: whether people's answers tie the mention to its entity, or only the model does."""

    span: SpanJson
    text: str
    sentence: int
    source: Literal["human", "model"]
    probability: float | None


class EntityView(BaseModel):
    """`id` is the entity's first mention, as text ("3-4"); it changes when the first mention does."""

    id: str
    first: str
    mentions: list[MentionView]


class EntitiesView(BaseModel):
    """`mentions` are all spans that can be clicked as candidates, those in no entity included."""

    document: int
    entities: list[EntityView]
    mentions: list[SpanJson]


# Questions


class EntityChance(BaseModel):
    """How much of the mention's probability lies on one entity; `entity` None is "starts a new entity"."""

    entity: str | None
    first: str | None
    span: SpanJson | None
    probability: float


class Why(BaseModel):
    """Why this question: the selector's name and score, and the distribution over entities, largest first."""

    selector: str
    score: float
    entropy: float
    entities: list[EntityChance]


class QuestionView(BaseModel):
    """`id` is to be sent back with the answer. `antecedent` is None in the modes that propose none."""

    id: str
    number: int
    document: int
    protocol: Mode
    mention: SpanJson
    mention_text: str
    antecedent: SpanJson | None
    antecedent_text: str | None
    probability: float
    why: Why


class Progress(BaseModel):
    """Of this document: answers that stand, the budget, time; `settled` is the share of mentions needing no question.

    `seconds_left` is the budget in seconds, or what the questions left will take by the project's cost model.
    """

    questions: int
    budget: int | None
    seconds: float
    seconds_left: float | None
    settled: float
    open_mentions: int
    documents_done: int
    documents: int
    total_questions: int
    total_seconds: float
    can_undo: bool
    can_redo: bool


class ModelStatus(BaseModel):
    """`version` is the model behind the open question; `latest` may be newer and swaps in after the next answer."""

    version: int
    name: str
    latest: int
    training: bool
    share_done: float | None
    error: str | None


class State(BaseModel):
    """What to show now.

    question         `question` is open
    preparing        the model is still reading the document; ask again in a second
    document-done    its budget is used or nothing is left to ask; `upcoming` is the document to go on with
    all-done         nothing is left for this person
    empty            the project has no documents
    """

    state: Literal["question", "preparing", "document-done", "all-done", "empty"]
    document: int | None
    question: QuestionView | None
    upcoming: int | None
    progress: Progress | None
    model: ModelStatus


# Answers


class AnswerJson(Strict):
    """As in a session's log: yes `same: true`; no with its follow-up `same: false, reply, span`; see docs/api.md."""

    same: bool | None = None
    reply: Literal["first", "antecedent", "not-a-mention", "boundaries", "unsure"] | None = None
    span: SpanJson | None = None


class Timing(Strict):
    """Seconds measured in the browser, idle time and hidden tabs taken out; None where a step did not occur."""

    reading: Seconds | None = None
    initial: Seconds | None = None
    follow_up: Seconds | None = None


class AnswerRequest(Strict):
    """`client_id` is made once for an answer and kept for its retries. `withdraw` resolves a contradiction."""

    client_id: ClientId
    document: int
    question: Annotated[str, Field(max_length=200)]
    answer: AnswerJson
    timing: Timing = Timing()
    withdraw: Annotated[list[int], Field(max_length=1000)] = []


class OutcomeView(BaseModel):
    """`settled` other mentions need no question any more; `pairs` of mentions are newly known."""

    number: int
    settled: list[SpanJson]
    settled_texts: list[str]
    pairs: int


class AnswerResult(BaseModel):
    """`repeated` says that this client_id had been taken before: nothing was done again."""

    outcome: OutcomeView
    repeated: bool
    next: State


class WithdrawRequest(Strict):
    client_id: ClientId
    document: int
    number: int


class StepRequest(Strict):
    """Undo or redo."""

    client_id: ClientId


class ActionResult(BaseModel):
    """`document` is where it happened, which may be another than the one shown."""

    document: int
    did: HistoryEntry | None
    repeated: bool
    next: State


class HistoryEntry(BaseModel):
    """One answer or edit of one's own.

    `said` puts it in words; `sentences` are the indices of the sentences its spans are in; `spans` and `texts` go
    together, the mention first.
    """

    document: int
    number: int
    kind: Literal["answer", "edit"]
    protocol: Mode | None
    answer: AnswerJson | None
    said: str
    spans: list[SpanJson]
    texts: list[str]
    sentences: list[int]
    stands: bool
    seconds: float
    at: str
    model_version: int


class History(BaseModel):
    """Newest first. `before` of the next page is `next_before`."""

    entries: list[HistoryEntry]
    next_before: int | None


# Review


class Merge(Strict):
    """All mentions of two entities are one entity; each is named by any of its mentions."""

    kind: Literal["merge"]
    a: SpanJson
    b: SpanJson


class Split(Strict):
    """These mentions of one entity are an entity of their own."""

    kind: Literal["split"]
    mentions: Annotated[list[SpanJson], Field(min_length=1, max_length=5000)]


class Move(Strict):
    """The mention belongs to the entity of `to`, and not to the one it is in."""

    kind: Literal["move"]
    mention: SpanJson
    to: SpanJson


class Remove(Strict):
    """The span is not a mention."""

    kind: Literal["remove"]
    mention: SpanJson


class Add(Strict):
    """The span is a mention: of the entity of `to`, or without it of one of its own."""

    kind: Literal["add"]
    mention: SpanJson
    to: SpanJson | None = None


Edit = Annotated[Merge | Split | Move | Remove | Add, Field(discriminator="kind")]


class EditRequest(Strict):
    client_id: ClientId
    document: int
    edit: Edit
    seconds: Seconds | None = None
    withdraw: Annotated[list[int], Field(max_length=1000)] = []


class EditResult(BaseModel):
    number: int
    repeated: bool
    entities: EntitiesView
    next: State


# Tutorial and guidelines


class TutorialStep(BaseModel):
    instruction: str
    question: QuestionView


class Tutorial(BaseModel):
    document: DocumentText
    steps: list[TutorialStep]


class TutorialAnswer(Strict):
    step: Annotated[int, Field(ge=0, le=100)]
    answer: AnswerJson


class TutorialVerdict(BaseModel):
    right: bool
    message: str


class Guidelines(Strict):
    markdown: Annotated[str, Field(max_length=200_000)]


for _model in (Problem, ErrorBody, ActionResult):
    _model.model_rebuild()
