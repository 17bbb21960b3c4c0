"""Documents and spans: what can exist, and what equals what."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.document import Deferred, Document, Span, SplitSpan, document_order, normalise, span_of
from corefine.errors import DocumentError

WORDS = ("Ann", "met", "her", "sister", ".")


def document(**fields: object) -> Document:
    given: dict[str, object] = {"name": "d", "tokens": WORDS, "sentence_starts": (0,)}
    return Document(**(given | fields))  # type: ignore[arg-type]


def test_what_a_document_knows() -> None:
    ann = Document.from_sentences("d", [["Ann", "met", "Bo"], ["She", "left"]], [[(3, 3), (0, 0)], [(2, 2)]], part=2)
    assert ann.clusters == ((Span(0, 0), Span(3, 3)), (Span(2, 2),))
    assert ann.sentences == (("Ann", "met", "Bo"), ("She", "left"))
    assert ann.sentence_spans == (Span(0, 2), Span(3, 4))
    assert ann.mentions == [Span(0, 0), Span(2, 2), Span(3, 3)]
    assert ann.key == "d part 2"
    assert len(ann) == 5
    assert ann.without_singletons().clusters == ((Span(0, 0), Span(3, 3)),)
    assert ann.with_clusters([[(1, 2)]]).clusters == ((Span(1, 2),),)
    assert ann.words(SplitSpan([(0, 0), (2, 3)])) == "Ann … Bo She"


def test_characters_of_a_span() -> None:
    text = "Ann met her"
    placed = document(tokens=("Ann", "met", "her"), text=text, offsets=((0, 3), (4, 7), (8, 11)))
    assert placed.characters(Span(1, 2)) == ((4, 11),)
    assert placed.characters(SplitSpan([(0, 0), (2, 2)])) == ((0, 3), (8, 11))
    with pytest.raises(DocumentError, match="no character offsets"):
        document().characters(Span(0, 0))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sentence_starts": (1,)}, "begin at 0"),
        ({"sentence_starts": ()}, "begin at 0"),
        ({"sentence_starts": (0, 0)}, "leave no sentence empty"),
        ({"sentence_starts": (0, 5)}, "leave no sentence empty"),
        ({"tokens": (), "sentence_starts": (0,)}, "leave no sentence empty"),
        ({"speakers": ("a",)}, "1 speakers for 5 tokens"),
        ({"layers": {"pos": ("N",)}}, "layer 'pos' has 1 entries for 5 tokens"),
        ({"offsets": ((0, 1),) * 5}, "offsets without a text"),
        ({"text": "x", "offsets": ((0, 1),)}, "1 offsets for 5 tokens"),
        ({"text": "x", "offsets": ((0, 2),) * 5}, "outside the text"),
        ({"text": "xy", "offsets": ((1, 2), (0, 1), (1, 2), (1, 2), (1, 2))}, "out of order"),
        ({"text": "xy", "offsets": ((-1, 1), *((1, 2),) * 4)}, "offsets -1-1 of token 0"),
        ({"text": "xy", "offsets": ((0, 1), (1, 0), *((1, 2),) * 3)}, "offsets 1-0 of token 1"),
        ({"clusters": ((Span(0, 5),),)}, "span 0-5 is outside its 5 tokens"),
        ({"clusters": ((Span(-1, 0),),)}, "outside"),
        ({"clusters": ((Span(2, 1),),)}, "outside"),
        ({"clusters": ((Span(0, 0),), (Span(0, 0),))}, r"span 0-0 \('Ann'\) is in two clusters"),
        ({"clusters": ((Span(0, 0), Span(0, 0)),)}, "twice in one cluster"),
        ({"clusters": ((),)}, "cluster 0 is empty"),
    ],
)
def test_documents_that_cannot_exist(fields: dict[str, object], message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        document(**fields)


def test_a_split_span_is_its_parts() -> None:
    split = SplitSpan([(0, 1), (3, 4)])
    assert (split.start, split.end, split.hull, split.width) == (0, 4, Span(0, 4), 5)
    assert split.parts == (Span(0, 1), Span(3, 4))
    assert split != Span(0, 4)
    assert Span(0, 4) != split
    assert split == SplitSpan([(0, 1), (3, 4)])
    assert split != SplitSpan([(0, 0), (3, 4)])
    assert len({split, Span(0, 4), SplitSpan([(0, 1), (3, 4)])}) == 2
    assert str(split) == "0-1+3-4"
    assert pickle.loads(pickle.dumps(split)) == split
    for parts in ([(0, 1)], [(0, 1), (2, 3)], [(3, 4), (0, 1)], [(1, 0), (3, 4)], [(0, 1), (4, 3)]):
        with pytest.raises(DocumentError):
            SplitSpan(parts)


def test_span_of_joins_what_touches() -> None:
    assert span_of([(3, 4), (0, 2)]) == Span(0, 4)
    assert span_of([(0, 5), (1, 2)]) == Span(0, 5)
    assert span_of([(4, 4), (0, 1)]) == SplitSpan([(0, 1), (4, 4)])


PAIRS = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda pair: (min(pair), max(pair)))
SPANS = (
    PAIRS.map(lambda pair: Span(*pair)) | st.just(SplitSpan([(0, 1), (4, 9)])) | st.just(SplitSpan([(0, 2), (5, 9)]))
)


@given(st.lists(st.lists(SPANS, max_size=4), max_size=4), st.randoms())
def test_the_order_given_does_not_matter(found: list[list[Span]], random: object) -> None:
    ordered = normalise(found)
    shuffled = [list(cluster) for cluster in found]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for cluster in shuffled:
        random.shuffle(cluster)  # type: ignore[attr-defined]
    distinct = {frozenset(cluster) for cluster in found}
    if len({span for cluster in distinct for span in cluster}) == sum(map(len, distinct)) == sum(map(len, found)):
        assert normalise(shuffled) == ordered
    for cluster in ordered:
        assert list(cluster) == sorted(set(cluster), key=document_order)


def test_normalise_takes_pairs_and_lists() -> None:
    assert normalise([[[3, 4], (0, 1)], []]) == ((Span(0, 1), Span(3, 4)),)  # type: ignore[list-item]


def test_deferred_is_made_once_and_equals_what_it_holds() -> None:
    made = []

    def make() -> dict[str, tuple[str, ...]]:
        made.append(1)
        return {"pos": ("N",) * 5}

    late = document(layers=Deferred(make))
    assert made == []
    assert late == document(layers={"pos": ("N",) * 5})
    assert document(layers={"pos": ("N",) * 5}) == late
    assert late != document()
    assert list(late.layers) == ["pos"]
    assert len(late.layers) == 1
    assert pickle.loads(pickle.dumps(late)) == late
    assert made == [1]


def test_a_part_that_no_format_can_hold() -> None:
    with pytest.raises(DocumentError, match="18 digits"):
        Document.from_sentences("a", [["b"]], part=10**23)
