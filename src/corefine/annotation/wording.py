"""Questions, answers and edits in words. The page, the terminal and `corefine simulate --explain` all use these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from corefine.annotation.log import AnswerEntry, EditEntry, LogEntry
from corefine.annotation.question import Answer, Protocol, Question, Reply
from corefine.document import Document, Span, document_order
from corefine.links import Cannot, First, Must, NotAMention
from corefine.scores.pronouns import is_pronoun

LONGEST = 60
MOST_OF_NAME = 4
"""A longer name is better up to this many capitalised words."""

Quote = Callable[[Span], str]


def written(document: Document, span: Span) -> str:
    """The words of a span as the source text has them, where there is one: without spaces in Chinese, for example."""
    if document.text is None or document.offsets is None:
        return document.words(span)
    parts = (document.text[start:end] for start, end in document.characters(span))
    return " … ".join(" ".join(part.split()) for part in parts)


def quoted(document: Document, span: Span) -> str:
    """The words of a span in quotes, shortened in the middle if there are many."""
    words = written(document, span)
    return f"“{words}”" if len(words) <= LONGEST else f"“{words[: LONGEST // 2]} … {words[-LONGEST // 3 :]}”"


def quoted_with_place(document: Document, span: Span) -> str:
    """The words of a span in quotes, and its tokens."""
    return f"“{document.words(span)}” ({span})"


def best_name(document: Document, mentions: Iterable[Span]) -> Span:
    """The mention that names an entity best: a name before a noun, a noun before a pronoun.

    "Leoš Janáček" comes before "the director of the National Conservatory": a name has at most one word that is
    not capitalised. Of those with the same words it is the first, which may open a sentence.
    """
    spans = list(mentions)

    def rank(span: Span) -> tuple[bool, bool, int, int]:
        opens = document.sentence_starts[document.sentence_of(span)]
        tokens = range(span.start, span.end + 1)
        free = (token for token in tokens if token != opens and document.tokens[token - 1][-1:].isalnum())
        capitals = sum(document.tokens[token][:1].isupper() for token in free)
        has_name = 2 * capitals >= len(tokens)
        is_name = has_name and len(tokens) - capitals <= 1
        return not is_pronoun(document, span), is_name, min(capitals, MOST_OF_NAME) if has_name else 0, -span.start

    words = document.words(max(spans, key=rank)).casefold()
    return min((span for span in spans if document.words(span).casefold() == words), key=document_order)


def spans_in_order(entry: LogEntry) -> list[Span]:
    """The spans of an entry. Those of an answer are its mentions, the proposed antecedent and the reply's spans."""
    if isinstance(entry, EditEntry):
        asserted = (span for assertion in entry.assertions for span in assertion.spans)
        return sorted({*entry.mentions, *entry.complete, *asserted}, key=document_order)
    question = entry.question
    spans = (*question.mentions, question.antecedent, entry.answer.span, *entry.answer.also)
    return list(dict.fromkeys(span for span in spans if span is not None))


def entry_text(entry: LogEntry, document: Document) -> str:
    """An answer or edit in words."""
    quote = partial(quoted, document)
    return answer_text(entry.question, entry.answer, quote) if isinstance(entry, AnswerEntry) else _edited(entry, quote)


def question_text(question: Question, quote: Quote) -> str:
    """A question in words."""
    mention = quote(question.mention)
    if question.protocol is Protocol.GROUP:
        return f"Are these {len(question.group)} {mention} all one entity?"
    if question.protocol is Protocol.MENTIONS:
        return f"Is {mention} a mention?"
    if question.antecedent is None:
        return f"Where does the entity of {mention} first appear?"
    return f"Is {mention} the same entity as {quote(question.antecedent)}?"


def answer_text(question: Question, answer: Answer, quote: Quote) -> str:
    """An answer in words."""
    mention = quote(question.mention)
    if question.protocol is Protocol.GROUP:
        return _about_group(question, answer, mention)
    other = None if question.antecedent is None else quote(question.antecedent)
    span = None if answer.span is None else quote(answer.span)
    no = f"{mention} is not {other}; " if answer.same is False and other is not None else ""
    if answer.same is True:
        return f"{mention} is a mention" if question.protocol is Protocol.MENTIONS else f"{mention} is {other}"
    match answer.reply:
        case Reply.FIRST if answer.span == question.mention:
            return f"{no}{mention} is the first appearance of its entity"
        case Reply.FIRST:
            return f"{no}the entity of {mention} first appears as {span}"
        case Reply.ANTECEDENT:
            return f"{no}{mention} is {span}"
        case Reply.NOT_A_MENTION:
            return f"{mention} is not a mention"
        case Reply.BOUNDARIES:
            also = f", and so for {len(answer.also)} more like it" if answer.also else ""
            return f"the mention is {span}, not {mention}{also}"
        case Reply.PROPOSED_BOUNDARIES:
            return f"the earlier mention is {span}, not {other}"
        case Reply.UNSURE:
            return f"{no}unsure about {mention}"
        case None:
            return f"{mention} is not {other}"


def _about_group(question: Question, answer: Answer, mention: str) -> str:
    size, struck = len(question.group), len(answer.struck)
    some = f"{size - struck} of {size}" if struck else f"all {size}"
    if answer.same is True:
        apart = f"; the other {'one is' if struck == 1 else f'{struck} are'} not" if struck else ""
        return f"{some} {mention} are one entity{apart}"
    if answer.reply is Reply.NOT_A_MENTION:
        return f"{some} {mention} are not mentions"
    if answer.reply is Reply.UNSURE:
        return f"unsure about {size} {mention}"
    return f"not all {size} {mention} are one entity"


def _edited(entry: EditEntry, quote: Quote) -> str:
    if entry.source is not None:
        first = quote(entry.mentions[0]) if entry.mentions else ""
        more = f" and {len(entry.mentions) - 1} more" if len(entry.mentions) > 1 else ""
        return f"from {entry.source}: {first}{more}"
    if entry.complete:
        return f"annotated in full: {quote(entry.complete[0])}"
    musts = [each for each in entry.assertions if isinstance(each, Must)]
    firsts = [each for each in entry.assertions if isinstance(each, First)]
    removed = [each for each in entry.assertions if isinstance(each, NotAMention)]
    cannots = [each for each in entry.assertions if isinstance(each, Cannot)]
    if removed:
        return f"removed: {quote(removed[0].mention)} is not a mention"
    if firsts and cannots:
        return f"split off: {quote(firsts[0].mention)} is an entity of its own"
    if entry.mentions:
        return f"added the mention {quote(entry.mentions[0])}"
    if musts:
        what = "moved" if cannots else "merged"
        return f"{what}: {quote(musts[0].a)} and {quote(musts[0].b)} are one entity"
    return "edited"
