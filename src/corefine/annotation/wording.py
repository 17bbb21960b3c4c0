"""Answers and edits in words, as the history shows them."""

from __future__ import annotations

from corefine.annotation.log import AnswerEntry, EditEntry, LogEntry
from corefine.annotation.question import Protocol, Reply
from corefine.document import Document, Span, document_order
from corefine.links import Cannot, First, Must, NotAMention

LONGEST = 60


def quoted(document: Document, span: Span) -> str:
    """The words of a span, shortened in the middle where there are many."""
    words = document.words(span)
    return f"“{words}”" if len(words) <= LONGEST else f"“{words[: LONGEST // 2]} … {words[-LONGEST // 3 :]}”"


def said(entry: LogEntry, document: Document) -> str:
    """What somebody said, in words."""
    return _answered(entry, document) if isinstance(entry, AnswerEntry) else _edited(entry, document)


def spans_in_order(entry: LogEntry) -> list[Span]:
    """The spans an entry is about; of an answer the mention comes first, then what was proposed, then the reply's."""
    if isinstance(entry, EditEntry):
        named = {*entry.mentions, *(span for assertion in entry.assertions for span in assertion.spans)}
        return sorted(named, key=document_order)
    question = entry.question
    spans = (question.mention, question.antecedent, entry.answer.span)
    return list(dict.fromkeys(span for span in spans if span is not None))


def _answered(entry: AnswerEntry, document: Document) -> str:
    question, answer = entry.question, entry.answer
    mention = quoted(document, question.mention)
    other = None if question.antecedent is None else quoted(document, question.antecedent)
    span = None if answer.span is None else quoted(document, answer.span)
    no = f"{mention} is not {other}; " if answer.same is False and other is not None else ""
    if answer.same is True:
        return f"{mention} is a mention" if question.protocol is Protocol.MENTIONS else f"{mention} is {other}"
    match answer.reply:
        case Reply.FIRST if answer.span == question.mention:
            return f"{no}{mention} is the first appearance of its entity"
        case Reply.FIRST:
            return f"{no}{mention} first appears as {span}"
        case Reply.ANTECEDENT:
            return f"{no}{mention} is {span}"
        case Reply.NOT_A_MENTION:
            return f"{mention} is not a mention"
        case Reply.BOUNDARIES:
            return f"the mention is {span}, not {mention}"
        case Reply.UNSURE:
            return f"{no}unsure about {mention}"
        case None:
            return f"{mention} is not {other}"


def _edited(entry: EditEntry, document: Document) -> str:
    musts = [each for each in entry.assertions if isinstance(each, Must)]
    firsts = [each for each in entry.assertions if isinstance(each, First)]
    removed = [each for each in entry.assertions if isinstance(each, NotAMention)]
    cannots = [each for each in entry.assertions if isinstance(each, Cannot)]
    if removed:
        return f"removed: {quoted(document, removed[0].mention)} is not a mention"
    if firsts and cannots:
        return f"split off: {quoted(document, firsts[0].mention)} is an entity of its own"
    if entry.mentions:
        return f"added the mention {quoted(document, entry.mentions[0])}"
    if musts:
        what = "moved" if cannots else "merged"
        return f"{what}: {quoted(document, musts[0].a)} and {quoted(document, musts[0].b)} are one entity"
    return "edited"
