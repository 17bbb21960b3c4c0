"""Documents of key and response, matched, filtered and added up."""

from __future__ import annotations

import pytest

from corefine import Document, score
from corefine.errors import InputError, UnmatchedError
from corefine.scores import report
from corefine.scores.metrics import NOTHING, PERFECT
from helpers.partitions import document

PAIR = [{(0, 0), (1, 1)}]


def text(words: str, clusters: list[set[tuple[int, int]]], name: str = "d", **fields: object) -> Document:
    return Document.from_sentences(name, [words.split()], clusters, **fields)  # type: ignore[arg-type]


def test_documents_are_matched_by_name_and_part_in_any_order() -> None:
    keys = [document(PAIR, "a"), document([{(2, 2), (3, 3)}], "a", part=1)]
    assert score(keys, list(reversed(keys))).conll_f1 == 100
    assert score(iter(keys), iter(keys)).conll_f1 == 100


def test_a_missing_document_is_named() -> None:
    keys = [document(PAIR, name) for name in "abc"]
    with pytest.raises(UnmatchedError, match="the key has a document that the response lacks: b;"):
        score(keys, [keys[0], keys[2]])
    with pytest.raises(UnmatchedError, match=r"key\.conll has 2 documents that out\.jsonl lacks: a part 1, b;"):
        report(
            [document(PAIR, "a", part=1), document(PAIR, "b")],
            [],
            sources=("key.conll", "out.jsonl"),
        )


def test_an_extra_document_is_named() -> None:
    with pytest.raises(UnmatchedError, match="the response has a document that the key lacks: x;"):
        score([document(PAIR, "a")], [document(PAIR, "a"), document(PAIR, "x")])


def test_of_many_missing_documents_some_are_named_and_the_rest_counted() -> None:
    with pytest.raises(UnmatchedError, match="12 documents that the response lacks: d0, d1, d2, d3, d4 and 7 more"):
        score([document(PAIR, f"d{number}") for number in range(12)], [])


@pytest.mark.parametrize("allow_missing", [False, True])
def test_a_document_twice_on_one_side_is_named(allow_missing: bool) -> None:
    one = document(PAIR, "a", part=2)
    with pytest.raises(UnmatchedError, match="document a part 2 is in the response more than once"):
        score([one], [one, one], allow_missing=allow_missing)


def test_another_number_of_tokens_is_refused_by_name() -> None:
    with pytest.raises(UnmatchedError, match="document d has 3 tokens in the key and 2 in the response"):
        score(text("a b c", []), text("a b", []))


def test_with_allow_missing_a_missing_document_is_empty() -> None:
    two, one = [document(PAIR, "a"), document(PAIR, "b")], [document(PAIR, "a")]
    assert score(two, one, allow_missing=True).b3 == pytest.approx((50, 100, 200 / 3))
    assert score(one, two, allow_missing=True).b3 == pytest.approx((100, 50, 200 / 3))
    assert score(two, [], allow_missing=True).conll_f1 == 0


def test_nothing_against_nothing_is_0() -> None:
    for scores in (
        score([], []),
        score(document([]), document([])),
        score(Document("d", (), ()), Document("d", (), ())),
    ):
        assert scores.mentions == scores.muc == scores.b3 == scores.ceafm == NOTHING
        assert scores.ceafe == scores.blanc == scores.lea == NOTHING
        assert scores.conll_f1 == 0


def test_scores_are_micro_averages() -> None:
    """One right link of one, none of three: a quarter, not the mean of 1 and 0."""
    keys = [document(PAIR, "a"), document([{(0, 0), (1, 1), (2, 2), (3, 3)}], "b")]
    responses = [document(PAIR, "a"), document([], "b")]
    assert score(keys, responses).muc == pytest.approx((25, 100, 40))


def test_reports_each_document_and_each_genre() -> None:
    keys = [
        document(PAIR, "a", genre="news"),
        document(PAIR, "b", genre="talk"),
        document(PAIR, "c", genre="news", part=3),
        document(PAIR, "d"),
    ]
    responses = [keys[0], keys[1].with_clusters([]), keys[2].with_clusters([]), keys[3]]
    result = report(keys, responses)
    assert [(each.name, each.part, each.genre) for each in result.documents] == [
        ("a", 0, "news"),
        ("b", 0, "talk"),
        ("c", 3, "news"),
        ("d", 0, None),
    ]
    assert [each.scores.muc.recall for each in result.documents] == [100, 0, 0, 100]
    assert {genre: scores.muc.recall for genre, scores in result.genres.items()} == {"news": 50, "talk": 0, None: 100}
    assert result.scores == score(keys, responses)
    assert result.scores.muc.recall == 50


def test_a_document_of_the_response_alone_is_reported_last_with_its_genre() -> None:
    result = report([document(PAIR, "b")], [document(PAIR, "a", genre="news"), document(PAIR, "b")], allow_missing=True)
    assert [(each.name, each.genre) for each in result.documents] == [("b", None), ("a", "news")]


def test_dropping_singletons_drops_them_on_both_sides_and_from_the_mention_score() -> None:
    key = document([{(0, 0), (1, 1)}, {(2, 2)}])
    response = document([{(0, 0), (1, 1)}, {(3, 3)}])
    assert score(key, response).mentions == pytest.approx((200 / 3, 200 / 3, 200 / 3))
    dropped = score(key, response, singletons="drop")
    assert dropped.mentions == dropped.b3 == dropped.ceafe == dropped.lea == PERFECT


def test_dropping_singletons_equals_scoring_documents_without_them() -> None:
    key = document([{(0, 0), (1, 1), (4, 4)}, {(2, 2)}, {(5, 5), (6, 6)}])
    response = document([{(0, 0), (1, 1)}, {(4, 4)}, {(2, 2), (5, 5)}])
    assert score(key, response, singletons="drop") == score(key.without_singletons(), response.without_singletons())


def test_singletons_are_kept_or_dropped_and_nothing_else() -> None:
    with pytest.raises(InputError, match="keep, drop, not 'remove'"):
        score([], [], singletons="remove")  # type: ignore[arg-type]


def test_pronouns_keeps_the_clusters_with_a_pronoun_on_each_side() -> None:
    words = "Ann said she met Bob , a friend of Bob"
    key = text(words, [{(0, 0), (2, 2)}, {(4, 4), (6, 7)}])
    assert score(key, key.with_clusters([{(0, 0), (2, 2)}]), pronouns=True).conll_f1 == 100
    # without its pronoun the response's cluster is left out, with its name
    missed = score(key, key.with_clusters([{(0, 0), (9, 9)}, {(4, 4), (6, 7)}]), pronouns=True)
    assert missed.mentions == NOTHING
    # one pronoun keeps the whole cluster
    merged = score(key, key.with_clusters([{(0, 0), (2, 2), (4, 4), (6, 7)}]), pronouns=True)
    assert merged.mentions == pytest.approx((100, 50, 200 / 3))


def test_tags_of_the_key_say_what_is_a_pronoun_on_both_sides() -> None:
    tagged = text("Zo zi zo", [{(0, 0), (1, 1)}], language="xx", layers={"upos": ("PROPN", "PRON", "PROPN")})
    plain = text("Zo zi zo", [{(0, 0), (1, 1)}], language="xx")
    assert score(tagged, plain, pronouns=True).mentions == PERFECT
    assert score(plain, plain, pronouns=True).mentions == NOTHING
