"""The tutorial: three questions about a bundled story, one for each kind of answer. Nothing of it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from corefine.annotation.question import Answer, Protocol, Question, Reply
from corefine.corpora import stories
from corefine.document import Span
from corefine.errors import AnswerError
from corefine.web.api.context import somebody
from corefine.web.api.documents import DocumentText
from corefine.web.api.state import QuestionView, Why
from corefine.web.api.types import AnswerJson, RequestModel

STORY = "harbour"
TUTORIAL_ID = 0

routes = APIRouter(prefix="/api/tutorial", dependencies=[Depends(somebody)])


@dataclass(frozen=True, slots=True)
class TutorialLesson:
    """A question about the story, what to do, and what to say to a wrong answer."""

    instruction: str
    mention: Span
    antecedent: Span
    right: tuple[Answer, ...]
    praise: str
    hint: str


STRANGER, HER_ARM = Span(0, 6), Span(20, 20)
NORA, SHE = Span(23, 30), Span(131, 131)
MEN, SOMEBODY = Span(89, 93), Span(64, 66)

LESSONS = (
    TutorialLesson(
        "The yellow mention is “her”, the blue one “A tall stranger in a grey coat”. Whose arm is it? "
        "If both are the same entity, press Y.",
        HER_ARM,
        STRANGER,
        (Answer.yes(),),
        "Right: it is the stranger's arm.",
        "Read the first sentence again: the stranger carries the box under her own arm. Press Y.",
    ),
    TutorialLesson(
        "“She” stared at the Hen Rock. The blue proposal is the stranger again. If it is somebody else, press N, "
        "and then mark where that person first appears.",
        SHE,
        STRANGER,
        (Answer.no(Reply.FIRST, NORA), Answer.no(Reply.ANTECEDENT, NORA)),
        "Right: it is Nora, and she first appears as “Nora Pell, the town's harbour master”.",
        "It is Nora who stands on the quay. Press N, then mark the whole of “Nora Pell, the town's harbour master”.",
    ),
    TutorialLesson(
        "“two men from the cannery”: the proposal is Nora's brother. If they are not the same and nobody has spoken of "
        "these men before, press N and then F: this is the first appearance.",
        MEN,
        SOMEBODY,
        (Answer.no(Reply.FIRST, MEN),),
        "Right: the two men appear here for the first time. That is all there is to it.",
        "The men have not been named before this sentence. Press N, then F for “this is the first”.",
    ),
)


class TutorialStep(BaseModel):
    instruction: str
    question: QuestionView


class Tutorial(BaseModel):
    document: DocumentText
    steps: list[TutorialStep]


class TutorialAnswer(RequestModel):
    step: Annotated[int, Field(ge=0, lt=1000)]
    answer: AnswerJson


class TutorialVerdict(BaseModel):
    right: bool
    message: str


@routes.get("")
def tutorial() -> Tutorial:
    story = next(story for story in stories.load() if story.name == STORY)
    why = Why(selector="tutorial", score=0.0, entropy=0.0)
    steps = []
    for number, lesson in enumerate(LESSONS):
        question = Question(number + 1, lesson.mention, lesson.antecedent, Protocol.DISCRETE, 0.5)
        view = QuestionView.of(f"tutorial-{number}", TUTORIAL_ID, story, question, why)
        steps.append(TutorialStep(instruction=lesson.instruction, question=view))
    return Tutorial(document=DocumentText.of(TUTORIAL_ID, story), steps=steps)


@routes.post("/check")
def check(body: TutorialAnswer) -> TutorialVerdict:
    """Whether the answer is right, and why."""
    if body.step >= len(LESSONS):
        raise AnswerError(f"the tutorial has {len(LESSONS)} steps")
    lesson = LESSONS[body.step]
    right = body.answer.to_answer() in lesson.right
    return TutorialVerdict(right=right, message=lesson.praise if right else lesson.hint)
