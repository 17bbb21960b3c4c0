"""Parts of a document that were annotated in full: no questions, no mentions of the model, full labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corefine.annotation.completed import covers, joined, without_unsaid
from corefine.annotation.labels import Labels
from corefine.annotation.proposals import Proposal, proposals, said_clusters
from corefine.annotation.session import Session
from corefine.corpora import stories
from corefine.document import Document, Span
from corefine.links import Must
from corefine.models import rules
from corefine.project.work import edits
from helpers.sessions import DOCUMENT, A, B, C, D, fresh

STORY = stories.load()[0]


def session() -> Session:
    return Session(STORY.with_clusters([]), rules.predict(STORY))


def mark(asked: Session, mention: Span, to: Span | None = None) -> None:
    edits.said_by(asked, edits.Mark(mention, to)).to(asked)


def in_full(asked: Session, gold: Document, sentences: int | None = None) -> None:
    first = {span: cluster[0] for cluster in gold.clusters for span in cluster}
    whole = gold.sentence_spans[: sentences or None]
    for mention in gold.mentions:
        if mention.end <= whole[-1].end:
            mark(asked, mention, None if first[mention] == mention else first[mention])
    edits.said_by(asked, edits.Complete(tuple(range(len(whole))))).to(asked)


def test_a_document_in_full_is_gold() -> None:
    asked = session()
    in_full(asked, STORY)
    assert asked.annotated().clusters == said_clusters(asked) == STORY.clusters
    assert asked.next_question() is None
    labels = Labels.from_session(asked)
    assert labels.full
    assert labels.document.clusters == STORY.clusters, "singletons included"
    again = session()
    again.replay(asked.log)
    assert again.annotated().clusters == STORY.clusters
    asked.undo()
    assert asked.complete == ()
    assert not Labels.from_session(asked).full


def test_part_of_a_document() -> None:
    asked = session()
    in_full(asked, STORY, sentences=4)
    (part,) = asked.complete
    assert part == Span(0, STORY.sentence_spans[3].end)
    outside = [span for span in asked.revision.prediction.spans if not covers((part,), span)]
    assert outside
    question = asked.next_question()
    assert question is not None
    assert question.mention.start > part.end, "what is annotated in full is not asked about"
    marked = {span for cluster in STORY.clusters for span in cluster if span.end <= part.end}
    found = {span for cluster in asked.relabelled().clusters for span in cluster if span.end <= part.end}
    assert found == marked
    labels = Labels.from_session(asked)
    assert (labels.full, labels.complete) == (False, (part,))
    assert Labels.from_json(labels.to_json(), STORY) == labels


def test_in_full_the_entities_are_those_that_people_see() -> None:
    """Answers that link two mentions leave it open whether the first of them has an antecedent; the tick settles it."""
    asked = fresh()
    asked.edit([Must(A, B)])
    asked.edit([Must(C, D)])
    assert asked.relabelled().clusters == ((A, B, C, D),), "the model links them"
    asked.edit([], complete=[Span(0, len(DOCUMENT) - 1)])
    assert Labels.from_session(asked).full
    assert asked.annotated().clusters == said_clusters(asked) == ((A, B), (C, D))
    asked.edit([Must(B, C)])
    assert asked.annotated().clusters == said_clusters(asked) == ((A, B, C, D),)


def test_the_model_links_nothing_in_a_part_to_text_before_it() -> None:
    asked = fresh()
    assert (B, C) in asked.relabelled().clusters
    asked.edit([Must(C, D)], complete=[Span(C.start, D.end)])
    assert asked.relabelled().clusters == ((C, D),)
    question = asked.next_question()
    assert question is not None
    assert question.mention == B
    assert Labels.from_session(asked).complete == (Span(C.start, D.end),)


def test_a_prediction_without_what_is_no_mention() -> None:
    prediction = rules.predict(STORY)
    part = STORY.sentence_spans[0]
    kept = without_unsaid(prediction, (part,), {prediction.spans[0]})
    assert kept.spans[0] == prediction.spans[0]
    assert all(span.start > part.end for span in kept.spans[1:])
    assert kept.probabilities[0, 0] == 1.0
    assert np.allclose(kept.probabilities.sum(axis=1), 1.0)
    assert without_unsaid(prediction, (), ()) is prediction
    assert joined([Span(5, 6), Span(0, 1), Span(2, 4)]) == (Span(0, 6),)


def test_a_mark_takes_the_place_of_an_earlier_one() -> None:
    asked = session()
    a, b, c = Span(0, 0), Span(3, 3), Span(5, 5)
    mark(asked, b)
    mark(asked, c, b)
    mark(asked, a, b)
    assert said_clusters(asked) == ((a, b, c),), "the entity begins earlier than was thought"
    mark(asked, a)
    assert said_clusters(asked) == ((a,), (b, c))
    edits.said_by(asked, edits.Unmark(a)).to(asked)
    assert said_clusters(asked) == ((b, c),)
    mark(asked, a, c)
    assert said_clusters(asked) == ((a, b, c),)
    for _ in range(3):
        asked.undo()
    assert said_clusters(asked) == ((a, b, c),)


def test_equal_words_and_pronouns_are_proposed() -> None:
    document = Document.from_sentences(
        "nl", ["Anna zag het huis .".split(), "Zij kocht Het Huis van haar oom .".split()], language="nl"
    )
    asked = Session(document, rules.predict(document.with_clusters([])))
    mark(asked, Span(0, 0))
    mark(asked, Span(2, 3))
    assert proposals(asked, 1)[:3] == [
        Proposal(Span(5, 5), Span(2, 3), "pronoun"),
        Proposal(Span(7, 8), Span(2, 3), "words"),
        Proposal(Span(10, 10), Span(2, 3), "pronoun"),
    ]
    mark(asked, Span(10, 11))
    assert Span(10, 10) in [proposal.span for proposal in proposals(asked, 1)], "within what is marked"


def test_pronouns_of_languages_split_into_characters_and_no_articles() -> None:
    document = Document.from_sentences("zh", [list("王芳来了。"), list("她看见他们。")], language="zh")
    asked = Session(document, rules.predict(document.with_clusters([])))
    mark(asked, Span(0, 1))
    found = {proposal.span: proposal.why for proposal in proposals(asked, 1)}
    assert (found[Span(5, 5)], found[Span(8, 9)]) == ("pronoun", "pronoun")
    spanish = Document.from_sentences("es", ["La vio .".split(), "Ella la vio .".split()], language="es")
    asked = Session(spanish, replace(rules.predict(spanish), mention_scores=None))
    assert [proposal.span for proposal in proposals(asked, 1)] == [Span(3, 3)], (
        "articles would be proposed all the time"
    )
