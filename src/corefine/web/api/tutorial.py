"""Three steps on a bundled story that teach the three things there are to do. Nothing of it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from corefine.annotation.question import Answer, Protocol, Question, Reply, span_to_json
from corefine.corpora import stories
from corefine.document import Document, Span
from corefine.web.api.text import text_of
from corefine.web.api.types import QuestionView, Tutorial, TutorialStep, TutorialVerdict, Why

STORY = "harbour"
TUTORIAL_ID = 0


@dataclass(frozen=True, slots=True)
class Lesson:
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
    Lesson(
        "The yellow mention is “her”, the blue one “A tall stranger in a grey coat”. Whose arm is it? "
        "If both are the same entity, press Y.",
        HER_ARM,
        STRANGER,
        (Answer.yes(),),
        "Right: it is the stranger's arm.",
        "Read the first sentence again: the stranger carries the box under her own arm. Press Y.",
    ),
    Lesson(
        "“She” stared at the Hen Rock. The blue proposal is the stranger again. If it is somebody else, press N, "
        "and then mark where that person first appears.",
        SHE,
        STRANGER,
        (Answer.no(Reply.FIRST, NORA), Answer.no(Reply.ANTECEDENT, NORA)),
        "Right: it is Nora, and she first appears as “Nora Pell, the town's harbour master”.",
        "It is Nora who stands on the quay. Press N, then mark the whole of “Nora Pell, the town's harbour master”.",
    ),
    Lesson(
        "“two men from the cannery”: the proposal is Nora's brother. If they are not the same and nobody has spoken of "
        "these men before, press N and then F: this is the first appearance.",
        MEN,
        SOMEBODY,
        (Answer.no(Reply.FIRST, MEN),),
        "Right: the two men appear here for the first time. That is all there is to it.",
        "The men have not been named before this sentence. Press N, then F for “this is the first”.",
    ),
)


@cache
def _story() -> Document:
    return next(story for story in stories.load() if story.name == STORY)


def tutorial() -> Tutorial:
    story = _story()
    steps = [
        TutorialStep(instruction=each.instruction, question=_question(number, each))
        for number, each in enumerate(LESSONS)
    ]
    return Tutorial(document=text_of(TUTORIAL_ID, story), steps=steps)


def check(step: int, answer: Answer) -> TutorialVerdict:
    """Whether the answer is right, and why."""
    lesson = LESSONS[step]
    right = answer in lesson.right
    return TutorialVerdict(right=right, message=lesson.praise if right else lesson.hint)


def _question(number: int, lesson: Lesson) -> QuestionView:
    question = Question(number + 1, lesson.mention, lesson.antecedent, Protocol.DISCRETE, 0.5)
    story = _story()
    return QuestionView(
        id=f"tutorial-{number}",
        number=question.number,
        document=TUTORIAL_ID,
        protocol=question.protocol.value,
        mention=span_to_json(lesson.mention),
        mention_text=story.words(lesson.mention),
        antecedent=span_to_json(lesson.antecedent),
        antecedent_text=story.words(lesson.antecedent),
        probability=question.probability,
        why=Why(selector="tutorial", score=0.0, entropy=0.0, entities=[]),
    )
