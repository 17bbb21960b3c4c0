"""Scores by CorefUD's conventions: zeros, heads, and partially matching mentions.

Mentions are aligned first, then the usual scores are computed. The alignment is that of the official CorefUD scorer:
zeros by their dependencies, then equal mentions, then the rest by a best assignment.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Literal, Protocol

from corefine.scores.ceaf import ceaf
from corefine.scores.metrics import Tally, b3, blanc_links, lea, mentions, muc
from corefine.scores.overlap import Overlap
from corefine.scores.results import Counts

Match = Literal["head", "partial", "exact"]
Zeros = Literal["dependent", "linear"]
Word = tuple[int, int, int]


class Mention(Protocol):
    """The parts of a mention that are compared. `deps` are the parents and relations of a zero's node."""

    @property
    def words(self) -> tuple[Word, ...]: ...
    @property
    def head(self) -> Word: ...
    @property
    def zero(self) -> bool: ...
    @property
    def deps(self) -> frozenset[tuple[str, str]]: ...


Clusters = Sequence[Sequence[Mention]]


def corefud_counts(
    key: Clusters,
    response: Clusters,
    *,
    match: Match = "head",
    zeros: Zeros = "dependent",
    keep_singletons: bool = True,
) -> Counts:
    """The counts of one document."""
    same = _identity(match)
    keys = _distinct(key, same, keep_singletons)
    responses = _distinct(response, same, keep_singletons)
    aligned = _aligned(keys, responses, match, zeros)
    recall = _overlap(keys, responses, aligned)
    precision = _transposed(_overlap(responses, keys, aligned))

    def both(measure: Callable[[Overlap], Tally]) -> Tally:
        found, exact = measure(recall), measure(precision)
        return Tally(found.recalled, found.key, exact.precise, exact.response)

    by_mention, by_entity = ceaf(_overlap(keys, responses, aligned, all_owners=True))
    linked, apart = blanc_links(recall)
    overlap = mention_overlap([m for c in keys for m in c.values()], [m for c in responses for m in c.values()])
    return Counts(both(mentions), both(muc), both(b3), by_mention, by_entity, linked, apart, both(lea), overlap)


Distinct = list[dict[Hashable, Mention]]
"""Clusters, each with its mentions by identity."""


def _identity(match: Match) -> Callable[[Mention], Hashable]:
    """What two equal mentions share: their words and, with head matching, their heads."""
    return (lambda mention: (mention.words, mention.head)) if match == "head" else (lambda mention: mention.words)


def _distinct(clusters: Clusters, same: Callable[[Mention], Hashable], keep_singletons: bool) -> Distinct:
    found = [{same(mention): mention for mention in reversed(cluster)} for cluster in clusters]
    ordered = [dict(reversed(cluster.items())) for cluster in found]
    return [cluster for cluster in ordered if len(cluster) > 1 or (keep_singletons and cluster)]


def _order(mention: Mention) -> tuple[Word, Word, int]:
    return mention.words[0], mention.words[-1], len(mention.words)


def _aligned(key: Distinct, response: Distinct, match: Match, zeros: Zeros) -> dict[Hashable, Hashable]:
    """For each mention, the mention of the other side that it is aligned with, unless the two are equal.

    One dictionary serves both directions, as in the official scorer. If a zero is at the position of another zero of
    the other side, the later of the two alignments counts.
    """
    aligned: dict[Hashable, Hashable] = {}
    of_key = {id_: mention for cluster in reversed(key) for id_, mention in cluster.items()}
    of_response = {id_: mention for cluster in reversed(response) for id_, mention in cluster.items()}
    if zeros == "dependent":
        _align(
            [(id_, mention) for id_, mention in of_key.items() if mention.zero],
            [(id_, mention) for id_, mention in of_response.items() if mention.zero],
            _zero_pairs,
            aligned,
        )
    if match != "exact":
        settled_key, settled_response = aligned.keys() | of_response.keys(), aligned.keys() | of_key.keys()
        _align(
            [(id_, mention) for cluster in key for id_, mention in cluster.items() if id_ not in settled_key],
            [(id_, mention) for cluster in response for id_, mention in cluster.items() if id_ not in settled_response],
            _head_pairs if match == "head" else _partial_pairs,
            aligned,
        )
    return aligned


Named = list[tuple[Hashable, Mention]]
Pairs = Callable[[Sequence[Mention], Sequence[Mention]], Iterable[tuple[int, int, float]]]


def _align(key: Named, response: Named, pairs: Pairs, aligned: dict[Hashable, Hashable]) -> None:
    """Add the best assignment between mentions of the key and of the response."""
    if not key or not response:
        return
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    key.sort(key=lambda named: _order(named[1]))
    response.sort(key=lambda named: _order(named[1]))
    similarity = np.zeros((len(key), len(response)))
    for row, column, worth in pairs([mention for _, mention in key], [mention for _, mention in response]):
        similarity[row, column] = worth
    rows, columns = linear_sum_assignment(-similarity)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if similarity[row, column] > 0:
            aligned[response[column][0]] = key[row][0]
            aligned[key[row][0]] = response[column][0]


def _head_pairs(key: Sequence[Mention], response: Sequence[Mention]) -> Iterable[tuple[int, int, float]]:
    """Pairs of mentions with the same head, weighted by the share of the key's words that both have."""
    heads = defaultdict(list)
    for column, mention in enumerate(response):
        heads[mention.head].append((column, set(mention.words)))
    for row, mention in enumerate(key):
        for column, words in heads.get(mention.head, ()):
            yield row, column, len(words.intersection(mention.words)) / len(mention.words)


def _partial_pairs(key: Sequence[Mention], response: Sequence[Mention]) -> Iterable[tuple[int, int, float]]:
    """Mentions of the response within one of the key that have its head, weighted by their share of its words."""
    covering = defaultdict(list)
    for column, mention in enumerate(response):
        for word in mention.words:
            covering[word].append((column, set(mention.words)))
    for row, mention in enumerate(key):
        words = set(mention.words)
        for column, others in covering.get(mention.head, ()):
            if others <= words:
                yield row, column, len(others) / len(words)


def _zero_pairs(key: Sequence[Mention], response: Sequence[Mention]) -> Iterable[tuple[int, int, float]]:
    """Zeros of one sentence that depend on the same words, preferably by the same relations.

    Zeros without dependencies match if they are at the same place. (The official scorer cannot score them.)
    """
    sentences = defaultdict(list)
    for column, mention in enumerate(response):
        sentences[mention.head[0]].append((column, mention))
    for row, mention in enumerate(key):
        for column, other in sentences.get(mention.head[0], ()):
            if not mention.deps or not other.deps:
                worth = float(mention.deps == other.deps and mention.head == other.head)
            else:
                parents = {parent for parent, _ in mention.deps}
                worth = 10 * _f1(mention.deps, other.deps) + _f1(parents, {parent for parent, _ in other.deps})
            if worth:
                yield row, column, worth


def _f1(one: Iterable[Hashable], other: Iterable[Hashable]) -> float:
    first, second = set(one), set(other)
    return 2 * len(first & second) / (len(first) + len(second))


def _overlap(
    key: Distinct, response: Distinct, aligned: dict[Hashable, Hashable], *, all_owners: bool = False
) -> Overlap:
    """The overlaps of key clusters with response clusters.

    A mention may be in several entities of the response. Like the official scorer, CEAF counts all of them and the
    other scores only the last.
    """
    owners: dict[Hashable, list[int]] = defaultdict(list)
    for number, cluster in enumerate(response):
        for id_ in cluster:
            owners[id_].append(number)
    pairs = Counter(
        (number, owner)
        for number, cluster in enumerate(key)
        for id_ in cluster
        for owner in owners.get(aligned.get(id_, id_), [])[0 if all_owners else -1 :]
    )
    return Overlap(
        key_sizes=list(map(len, key)),
        response_sizes=list(map(len, response)),
        keys=[pair[0] for pair in pairs],
        responses=[pair[1] for pair in pairs],
        shared=list(pairs.values()),
    )


def _transposed(overlap: Overlap) -> Overlap:
    return Overlap(overlap.response_sizes, overlap.key_sizes, overlap.responses, overlap.keys, overlap.shared)


def mention_overlap(key: Sequence[Mention], response: Sequence[Mention]) -> Tally:
    """The mention overlap ratio: the words in common when mentions are aligned as well as possible."""
    from corefine.scores.ceaf import best_alignments, components

    at: dict[Word, list[int]] = defaultdict(list)
    for number, mention in enumerate(response):
        for word in mention.words:
            at[word].append(number)
    pairs = Counter(
        (number, other) for number, mention in enumerate(key) for w in mention.words for other in at.get(w, ())
    )
    overlap = Overlap(
        [len(mention.words) for mention in key],
        [len(mention.words) for mention in response],
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
        list(pairs.values()),
    )
    parts = components(overlap, range(len(pairs)))
    common = sum(sum(best_alignments(overlap, part, overlap.shared)[0]) for part in parts)
    return Tally(common, sum(overlap.key_sizes), common, sum(overlap.response_sizes))
