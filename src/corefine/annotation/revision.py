"""A prediction given the answers so far: its rows, its clusters, and the mass of each row on each cluster.

The row of mention i is set by the first rule that applies:

    i is not a mention, or is the first of its entity    all mass on epsilon
    i must be one entity with earlier mentions           all mass on the most probable of them, ties to the nearest
    otherwise                                            no mass on what i cannot be, the rest renormalised;
                                                         all on epsilon if nothing is left

Rows depend only on the prediction and the links, not on the order of answers, so a withdrawn answer leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from corefine.annotation.clustering import Decoder, Nodes
from corefine.annotation.log import AnswerEntry, LogEntry
from corefine.document import Cluster, Span
from corefine.errors import PredictionError
from corefine.links import Change, Links
from corefine.prediction import NONE, Floats, Indices, Prediction

Mask = NDArray[np.bool_]

EPSILON = 0
"""Column of "no antecedent" in a row, and its label in `Masses`."""

MOST_BINS = 2_000_000
"""Rows are summed in blocks of at most this many (row, cluster) bins. This bounds memory on long documents."""


SPARSE_FROM = 16
"""With more clusters per column than this, most bins would be empty, and the sparse way is used."""


@dataclass(frozen=True, slots=True)
class Masses:
    """The mass of some rows on each cluster that has any, in three columns.

    row      position in the rows asked for, ascending
    label    0 for epsilon, else 1 + the cluster's label
    mass     probability, or share of votes, that the row's mention is in the cluster
    rows     how many rows were asked for
    """

    row: Indices
    label: Indices
    mass: Floats
    rows: int

    def entropy(self) -> Floats:
        """Entropy of each row over its clusters."""
        mass = self._by_size()
        terms = np.log(mass, where=mass > 0.0, out=np.zeros_like(mass))
        terms *= mass
        return 0.0 - np.cumsum(terms, axis=1, out=terms)[:, -1]

    def disagreement(self) -> Floats:
        """For each row, the probability that two clusters drawn from it differ."""
        mass = self._by_size()
        return np.cumsum(mass * (1.0 - mass), axis=1)[:, -1]

    def _by_size(self) -> Floats:
        """[R, C] the masses of each row in ascending order, after zeros.

        Sums over them are taken in this order, so renumbering clusters cannot change a sum, even by rounding.
        """
        filled = np.bincount(self.row, minlength=self.rows)
        column = np.arange(len(self.row)) - (np.cumsum(filled) - filled)[self.row]
        table = np.zeros((self.rows, int(filled.max(initial=1))))
        table[self.row, column] = self.mass
        table.sort(axis=1)
        return table

    def largest(self, label: Indices | None = None) -> Floats:
        """Each row's largest mass on a cluster other than epsilon; with `label`, its mass on that label."""
        kept = self.label != EPSILON if label is None else self.label == label[self.row]
        best = np.zeros(self.rows)
        np.maximum.at(best, self.row[kept], self.mass[kept])
        return best


class Revision:
    """One prediction revised by the links of one document.

    rows            [N, 1 + K] revised probabilities; all zero if answers name an antecedent outside the candidates
    votes           [N, 1 + K] revised share of the committee for each antecedent, or None without a committee
    blocked         [N, K] candidates not to propose: ruled out, padding, or all of a settled row
    unsure_pairs    [N, K] pairs answered 'unsure'
    settled         [N] the answer about this mention is known, so there is no point in asking

    `answers` are the standing answers. The links hold all that follows from them; only the ablations of the simulation
    look at the answers themselves.
    """

    def __init__(self, prediction: Prediction, links: Links, answers: Iterable[AnswerEntry] = ()) -> None:
        size = len(prediction)
        self.prediction = prediction
        self.links = links
        self.nodes = Nodes(prediction.spans)
        self.rows: Floats = prediction.probabilities.copy()
        self.votes: Floats | None = None if prediction.members is None else _votes(prediction.members)
        self.blocked: Mask = prediction.candidates == NONE
        self.unsure_pairs: Mask = np.zeros_like(self.blocked)
        self.settled: Mask = np.zeros(size, dtype=np.bool_)
        self._base_votes = None if self.votes is None else self.votes.copy()
        self._padding = self.blocked.copy()
        self._entity = _own_entities(0, size)  # of each node; negative if no answer names it
        self._excluded: set[int] = set()  # nodes that are not mentions
        self._antecedent = np.full(size, NONE, dtype=np.int64)  # node; may be outside the candidates
        self._strength = np.zeros(size)
        self._decoder = Decoder(self.nodes, links)
        every = np.arange(size)
        self._link_best(every)
        self._cluster(every, ())
        if spans := list(links.spans()):
            self._update(spans, ())

    @cached_property
    def _listed_by(self) -> _ListedBy:
        return _ListedBy(self.prediction.candidates)

    @property
    def labels(self) -> Indices:
        """The cluster of each node."""
        return self._decoder.labels

    def clusters(self) -> tuple[Cluster, ...]:
        """Clusters of two or more mentions, from model links and answers together."""
        return self._decoder.clusters()

    def antecedent(self, row: int) -> Span | None:
        """The row's antecedent; None for epsilon."""
        node = int(self._antecedent[row])
        return None if node == NONE else self.nodes.spans[node]

    def linked(self) -> Mask:
        """[N] whether the mention has an antecedent. The head of a chain has none."""
        linked: Mask = self._antecedent != NONE
        return linked

    def update_after(self, entry: LogEntry, change: Change, *, stands: bool) -> Indices:
        """Update after an entry is given or withdrawn. Returns the rows to score again."""
        return self.update(change)

    def update(self, change: Change) -> Indices:
        """Update after a change of the links. Returns the rows to score again."""
        return self._update(change.spans, change.entities)

    def _update(self, spans: Iterable[Span], entities: Iterable[int]) -> Indices:
        spans = list(spans)
        nodes = [self.nodes.get_or_add(span) for span in spans]
        self._follow_entities(nodes)
        turned = [node for node in nodes if (node in self._excluded) == self.links.is_mention(self.nodes.spans[node])]
        self._excluded.symmetric_difference_update(turned)
        own = np.array([node for node in nodes if node < len(self.prediction)], dtype=np.int64)
        rows = np.unique(np.concatenate([own, self._listed_by[turned], self._rows_apart(entities, own)]))
        for row in rows.tolist():
            self._revise(row)
        return self._decode(rows, spans)

    def _rows_apart(self, entities: Iterable[int], nodes: Indices) -> Indices:
        """Rows that have one of these nodes as a candidate and must be revised, as a cannot-link was added or removed.

        In an entity that is set apart only the first member can have an open row: the others are linked to it.
        """
        apart = {other for entity in entities for other in self.links.cannot_entities(entity)}
        firsts = (self.nodes.row(self.links.first(other)) for other in apart)
        rows = np.array([row for row in firsts if row is not None], dtype=np.int64)
        wanted = np.zeros(len(self.prediction) + 1, dtype=np.bool_)  # the last one is for padding
        wanted[nodes] = True
        return rows[wanted[self.prediction.candidates[rows]].any(axis=1)]

    def masses(self, rows: Indices, *, clustered: bool = True, votes: bool = False) -> Masses:
        """The mass of some rows, or their votes, on each cluster. Unclustered, each antecedent is its own cluster."""
        source = self.votes if votes else self.rows
        if source is None:
            raise PredictionError("votes need the prediction of a committee (Prediction.members)")
        size = 1 + len(self.nodes)
        dense = size <= SPARSE_FROM * source.shape[1]
        step = max(1, MOST_BINS // (size if dense else source.shape[1]))
        columns: list[tuple[Indices, Indices, Floats]] = []
        for start in range(0, max(1, len(rows)), step):
            block = rows[start : start + step]
            row, label, mass = _sums(source[block], self._classes(block, clustered), size, dense=dense)
            columns.append((start + row, label, mass))
        row, label, mass = (np.concatenate(column) for column in zip(*columns, strict=True))
        return Masses(row, label, mass, len(rows))

    def own_class(self, rows: Indices) -> Indices:
        """The `Masses.label` of the cluster that each row's mention is in."""
        return 1 + self.labels[rows]

    def antecedent_class(self, rows: Indices) -> Indices:
        """The unclustered `Masses.label` of each row's antecedent."""
        return 1 + self._antecedent[rows]

    def closed_pairs(self, rows: Indices) -> Mask:
        """[R, K] pairs that are not to be asked about."""
        return self.blocked[rows] | self.unsure_pairs[rows]

    def column(self, row: int, antecedent: Span) -> int | None:
        """The column of this candidate in a row, None if the row does not list it."""
        node = self.nodes.row(antecedent)
        if node is None:  # candidates are top spans
            return None
        found = np.flatnonzero(self.prediction.candidates[row] == node)
        return int(found[0]) if len(found) else None

    def _classes(self, rows: Indices, clustered: bool) -> Indices:
        """[R, 1 + K] the `Masses.label` of each column of some rows."""
        candidates = self.prediction.candidates[rows]
        classes = np.zeros((len(rows), 1 + candidates.shape[1]), dtype=np.int64)
        classes[:, 1:] = 1 + (self.labels[candidates] if clustered else candidates)
        return classes

    def _follow_entities(self, nodes: list[int]) -> None:
        known = len(self._entity)
        if known < len(self.nodes):
            self._entity = np.concatenate([self._entity, _own_entities(known, len(self.nodes))])
        for node in nodes:
            entity = self.links.entity_id(self.nodes.spans[node])
            self._entity[node] = OWN - node if entity is None else entity

    def _decode(self, rows: Indices, spans: Iterable[Span]) -> Indices:
        """Update the clusters after these rows, and links on these spans, changed. Returns rows to score again."""
        changed = self._cluster(rows, spans)
        # a score can depend on the cluster of the row's own mention as well as on those of its candidates
        moved = np.array([node for node in changed if node < len(self.prediction)], dtype=np.int64)
        return np.unique(np.concatenate([rows, moved, self._listed_by[changed]]))

    def _cluster(self, rows: Indices, spans: Iterable[Span]) -> list[int]:
        """Update the clusters after these rows, and links on these spans, changed. Returns the nodes that moved."""
        return self._decoder.update(rows.tolist(), self._antecedent[rows], self._strength[rows], spans)

    def _revise(self, row: int) -> None:
        span = self.nodes.spans[row]
        entity = self.links.entity_id(span)
        if self.links.has_no_antecedent(span):
            self._settle(row, NONE)
        elif entity is not None and self.links.first(entity) < span:
            self._settle(row, self._best_known(row, entity, span))
        else:
            self._block(row, entity)
            self._link_best(np.array([row]))

    def _settle(self, row: int, antecedent: int) -> None:
        """All mass on one antecedent, or on epsilon for `NONE`."""
        column = np.flatnonzero(self.prediction.candidates[row] == antecedent) + 1 if antecedent != NONE else EPSILON
        for matrix in (self.rows, self.votes):
            if matrix is not None:
                matrix[row] = 0.0
                matrix[row, column] = 1.0
        self.settled[row] = self.blocked[row] = True
        self._antecedent[row], self._strength[row] = antecedent, 1.0

    def _best_known(self, row: int, entity: int, span: Span) -> int:
        """The entity's node that is the most probable antecedent in the model; ties go to the nearest."""
        candidates = self.prediction.candidates[row]
        columns = np.flatnonzero(self._entity[candidates] == entity)
        columns = columns[candidates[columns] != NONE]
        if not len(columns):  # the model proposed none of them: take the nearest
            return self.nodes.get_or_add(max(member for member in self.links.members(entity) if member < span))
        chances = self.prediction.probabilities[row, 1 + columns]
        return int(candidates[columns[chances == chances.max()]].max())

    def _block(self, row: int, entity: int | None) -> None:
        """Remove the mass on everything that the mention cannot be."""
        candidates = self.prediction.candidates[row]
        blocked = self._padding[row].copy()
        if entity is not None and (apart := self.links.cannot_entities(entity)):
            blocked |= np.isin(self._entity[candidates], apart)
        if self._excluded:
            blocked |= np.isin(candidates, list(self._excluded))
        kept = self.prediction.probabilities[row].copy()
        if blocked.sum() > self._padding[row].sum():  # else the row stays exactly as the model made it
            kept[1:][blocked] = 0.0
            total = kept.sum()
            kept = kept / total if total > 0.0 else np.eye(1, len(kept), EPSILON)[0]
        self.rows[row], self.blocked[row], self.settled[row] = kept, blocked, False
        if self.votes is not None and self._base_votes is not None:
            self.votes[row] = self._base_votes[row]
            self.votes[row, 1:][blocked] = 0.0

    def link_by_sums(self) -> None:
        """Link each open mention to the entity with the largest summed probability instead of its best antecedent.

        Mentions are linked in document order, each given the entities so far. An answer can thus change all later
        entities, so this is done once at the end and not after every answer.
        """
        size = len(self.prediction)
        entity = np.arange(len(self.nodes))  # of each node, named by its first mention
        for members in self.links.entities():
            known = sorted(map(self.nodes.get_or_add, members))
            entity = np.concatenate([entity, np.arange(len(entity), len(self.nodes))])
            entity[known] = known[0]
        open_rows = ~self.settled & (self._antecedent != NONE)
        for row in range(size):
            if self.settled[row]:
                antecedent = self._antecedent[row]
            elif open_rows[row]:
                antecedent, self._strength[row] = self._best_by_sums(row, entity)
                self._antecedent[row] = antecedent
            else:
                continue
            if antecedent != NONE and entity[row] != entity[antecedent]:
                own = [row] if self._entity[row] < 0 else np.flatnonzero(entity == entity[row])
                entity[own] = entity[antecedent]
        self._cluster(np.flatnonzero(open_rows), ())

    def _best_by_sums(self, row: int, entity: Indices) -> tuple[int, float]:
        """The best antecedent in the entity with the largest sum, and that sum; ties go to the nearest."""
        columns = np.flatnonzero(self.rows[row, 1:] > 0.0)
        candidates = self.prediction.candidates[row, columns]
        chances = self.rows[row, 1 + columns]
        _, which = np.unique(entity[candidates], return_inverse=True)
        sums = np.bincount(which, weights=chances)[which]
        best = np.lexsort((candidates, chances, sums))[-1]
        return int(candidates[best]), float(sums[best])

    def _link_best(self, rows: Indices) -> None:
        """Link each mention to its most probable antecedent, unless epsilon has too much of the mass.

        Antecedents of one entity share its mass: each may have less than epsilon even if together they have more.
        Only the rule `argmax` compares epsilon with a single antecedent.
        """
        if not self.prediction.width:
            return
        columns = 1 + self.rows[rows, 1:].argmax(axis=1)
        limit = self.rows[rows, columns] if self.prediction.decoding == "argmax" else self.prediction.threshold
        linked = self.rows[rows, EPSILON] < limit
        self._antecedent[rows] = np.where(linked, self.prediction.candidates[rows, columns - 1], NONE)
        self._strength[rows] = np.where(linked, self.rows[rows, columns], self.rows[rows, EPSILON])


class _ListedBy:
    """For each top span, the rows that have it among their candidates."""

    def __init__(self, candidates: Indices) -> None:
        rows, columns = np.nonzero(candidates != NONE)
        listed = candidates[rows, columns]
        order = np.argsort(listed, kind="stable")
        self._rows = rows[order]
        self._start = np.searchsorted(listed[order], np.arange(len(candidates) + 1))

    def __getitem__(self, nodes: list[int]) -> Indices:
        """Rows that list any of these nodes. No row lists a node that is not a top span."""
        start = self._start
        found = [self._rows[start[node] : start[node + 1]] for node in nodes if node + 1 < len(start)]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


OWN = -1
"""A node that no answer names is an entity of its own, with the number `OWN - node`."""


def _own_entities(start: int, end: int) -> Indices:
    return OWN - np.arange(start, end, dtype=np.int64)


def _votes(members: Floats) -> Floats:
    """[N, 1 + K] the share of members that put each antecedent first."""
    votes = np.zeros(members.shape[1:])
    rows = np.arange(len(votes))
    for member in members:
        votes[rows, member.argmax(axis=1)] += 1.0 / len(members)
    return votes


def _sums(weights: Floats, classes: Indices, size: int, *, dense: bool) -> tuple[Indices, Indices, Floats]:
    """Row, label and sum of weights for every label with weight in a row; rows and labels ascending.

    The dense way has a bin for every row and label. The sparse way sorts the labels and numbers only those that occur.
    """
    if dense:
        keys = classes + (np.arange(len(weights)) * size)[:, None]
        bins = np.bincount(keys.ravel(), weights=weights.ravel()).astype(np.float64, copy=False)
        filled = np.flatnonzero(bins > 0.0)  # of booleans it is several times as fast
        return filled // size, filled % size, bins[filled]
    held = weights > 0.0
    row, _ = np.nonzero(held)
    filled, number = np.unique(row * size + classes[held], return_inverse=True)
    sums = np.bincount(number, weights=weights[held], minlength=len(filled)).astype(np.float64, copy=False)
    return filled // size, filled % size, sums


def decode(prediction: Prediction, links: Links | None = None) -> tuple[Cluster, ...]:
    """Clusters of two or more mentions: those of the model, with every link respected."""
    revision = Revision(prediction, Links() if links is None else links)
    if prediction.decoding == "sums":
        revision.link_by_sums()
    return revision.clusters()
