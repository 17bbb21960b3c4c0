"""Edits made in a review or when annotating in full. Each asserts only what the person did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from corefine.annotation.log import EditEntry, Outcome
from corefine.annotation.session import Session
from corefine.document import Cluster, Span, document_order
from corefine.errors import AnswerError
from corefine.links import Assertion, Cannot, First, Links, Must, NotAMention


@dataclass(frozen=True, slots=True)
class Merge:
    """Merge the entities of `a` and `b`."""

    a: Span
    b: Span
    kind: Literal["merge"] = "merge"


@dataclass(frozen=True, slots=True)
class Split:
    """Split these mentions off into a new entity."""

    mentions: tuple[Span, ...]
    kind: Literal["split"] = "split"


@dataclass(frozen=True, slots=True)
class Move:
    """Move a mention to the entity of `to`."""

    mention: Span
    to: Span
    kind: Literal["move"] = "move"


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove a span that is not a mention."""

    mention: Span
    kind: Literal["remove"] = "remove"


@dataclass(frozen=True, slots=True)
class Add:
    """Add a mention to the entity of `to`, or to a new entity."""

    mention: Span
    to: Span | None = None
    kind: Literal["add"] = "add"


@dataclass(frozen=True, slots=True)
class Confirm:
    """Confirm the entity of a mention as it is shown: all of its mentions are one entity."""

    mention: Span
    kind: Literal["confirm"] = "confirm"


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark a mention of the entity of `to`, or of a new entity. It replaces an earlier mark of the span."""

    mention: Span
    to: Span | None = None
    kind: Literal["mark"] = "mark"


@dataclass(frozen=True, slots=True)
class Unmark:
    """A span is not a mention, whether it was marked or proposed."""

    mention: Span
    kind: Literal["unmark"] = "unmark"


@dataclass(frozen=True, slots=True)
class Complete:
    """All mentions of these sentences are marked, and each is in its entity."""

    sentences: tuple[int, ...]
    kind: Literal["complete"] = "complete"


Review = Merge | Split | Move | Remove | Add | Confirm
Edit = Review | Mark | Unmark | Complete


@dataclass(frozen=True, slots=True)
class Said:
    """What an edit says: assertions, spans that are mentions, parts that are annotated in full.

    replaces    earlier entries that it takes back
    """

    assertions: Sequence[Assertion]
    mentions: Sequence[Span] = ()
    complete: Sequence[Span] = ()
    replaces: Sequence[int] = ()

    def to(self, session: Session, *, seconds: float = 0.0, withdrawing: Sequence[int] = ()) -> Outcome:
        """Apply it to a session in one step."""
        back = (*withdrawing, *self.replaces)
        return session.edit(
            self.assertions, mentions=self.mentions, complete=self.complete, seconds=seconds, withdrawing=back
        )


def to_json(edit: Edit) -> list[str]:
    """The edit as a list of strings, to compare it with one that was sent before."""
    if isinstance(edit, Complete):
        return [edit.kind, *map(str, edit.sentences)]
    *spans, kind = (getattr(edit, name) for name in edit.__match_args__)
    return [kind, *map(str, edit.mentions if isinstance(edit, Split) else spans)]


def said_by(session: Session, edit: Edit) -> Said:
    """What an edit says, given the entities as they are shown."""
    match edit:
        case Mark(mention, to):
            return _mark(session, mention, to)
        case Unmark(mention):
            return _instead(Said([NotAMention(mention)]), _marks_of(session, mention), {mention})
        case Complete(sentences):
            spans = session.document.sentence_spans
            if not sentences or not all(0 <= number < len(spans) for number in sentences):
                raise AnswerError(f"the document has sentences 0 to {len(spans) - 1}: name some of them")
            return Said([], complete=[spans[number] for number in sorted(set(sentences))])
    return Said(*_reviewed(session, edit))


def _mark(session: Session, mention: Span, to: Span | None) -> Said:
    replaced = _marks_of(session, mention)
    if to is None:
        return _instead(Said([First(mention, mention)], [mention]), replaced, {mention})
    if to == mention:
        raise AnswerError("a mention is not the antecedent of itself: choose another")
    first = (session.links.entity_of(to) or (to,))[0]
    openings = _marks_of(session, first) if mention < first and session.links.has_no_antecedent(first) else []
    if openings:  # the entity now begins earlier, so the entry that said where it begins is replaced
        said = Said([First(mention, mention), Must(mention, first)], [mention, first])
        return _instead(said, [*replaced, *openings], {mention, first})
    return _instead(Said([Must(min(mention, to), max(mention, to))], [mention, to]), replaced, {mention})


def _marks_of(session: Session, mention: Span) -> list[EditEntry]:
    """The standing marks about a span: that it is a mention, begins an entity, or is not a mention."""
    return [
        entry
        for entry in session.entries
        if isinstance(entry, EditEntry)
        and entry.source is None
        and not any(isinstance(each, Cannot) for each in entry.assertions)
        and (
            entry.mentions[:1] == (mention,)
            or First(mention, mention) in entry.assertions
            or NotAMention(mention) in entry.assertions
        )
    ]


def _instead(said: Said, replaced: Sequence[EditEntry], about: set[Span]) -> Said:
    """The same, replacing other entries. What those say about other spans is repeated."""
    assertions, mentions = list(said.assertions), list(said.mentions)
    for entry in replaced:
        opened = {each.first for each in entry.assertions if isinstance(each, First)}
        for each in entry.assertions:
            if about.isdisjoint(each.spans):
                assertions.append(each)
            elif isinstance(each, Must) and each.a in opened and each.b not in about:
                assertions.append(First(each.b, each.b))  # it is still the first of its entity
        mentions += [span for span in entry.mentions if span not in about]
    numbers = [entry.number for entry in replaced]
    return Said(list(dict.fromkeys(assertions)), list(dict.fromkeys(mentions)), said.complete, numbers)


def _reviewed(
    session: Session, edit: Merge | Split | Move | Remove | Add | Confirm
) -> tuple[list[Assertion], list[Span]]:
    """Assertions, and spans that are mentions."""
    entity_of = {span: cluster for cluster in session.annotated().clusters for span in cluster}
    match edit:
        case Merge(a, b):
            if b in entity_of.get(a, (a,)):
                raise AnswerError("these two are one entity already")
            return [Must(min(a, b), max(a, b))], []
        case Split(mentions):
            chosen = sorted(set(mentions), key=document_order)
            said = _split(session.links, chosen, entity_of)
            rest = [span for span in entity_of[chosen[0]] if span not in chosen]
            return said, [*chosen, *(rest if len(rest) == 1 else ())]  # both sides stay visible
        case Move(mention, to):
            old = entity_of.get(mention, (mention,))
            if to in old:
                raise AnswerError("the mention is in that entity already")
            others = [span for span in old if span != mention]
            return [*_apart(session.links, mention, others), Must(min(mention, to), max(mention, to))], []
        case Remove(mention):
            return [NotAMention(mention)], []
        case Add(mention, to):
            if mention in entity_of:
                raise AnswerError("this is a mention already: move it to the entity it belongs to")
            if to is None:
                return [First(mention, mention)], [mention]
            return [Must(min(mention, to), max(mention, to))], [mention]
        case Confirm(mention):
            cluster = entity_of.get(mention, (mention,))
            if is_confirmed(session.links, cluster):
                raise AnswerError("people have said all of this already")
            if len(cluster) == 1:
                return [First(mention, mention)], [mention]
            return [Must(a, b) for a, b in pairwise(cluster)], []


def is_confirmed(links: Links, cluster: Cluster) -> bool:
    """Whether answers alone, without the model, make this entity."""
    known = links.entity_of(cluster[0])
    if known is None or not set(cluster) <= set(known):
        return False
    return len(cluster) > 1 or links.has_no_antecedent(cluster[0])


def _split(links: Links, mentions: list[Span], entity_of: dict[Span, Cluster]) -> list[Assertion]:
    whole = entity_of.get(mentions[0], ())
    if not set(mentions) < set(whole):
        raise AnswerError("choose some, not all, of the mentions of one entity")
    rest = [span for span in whole if span not in mentions]
    first = mentions[0]
    together: list[Assertion] = [Must(a, b) for a, b in pairwise(mentions)]
    return [*together, *_apart(links, first, rest), First(first, first)]


def _apart(links: Links, mention: Span, others: Iterable[Span]) -> list[Assertion]:
    """Assert that a mention is none of these: once for each entity that people have made, and for each other span."""
    said: dict[object, Assertion] = {}
    for other in others:
        entity = links.entity_id(other)
        said.setdefault(other if entity is None else entity, Cannot(min(mention, other), max(mention, other)))
    return list(said.values())
