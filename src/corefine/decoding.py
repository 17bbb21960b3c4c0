"""From antecedents to clusters, with every answer respected.

Each top span names at most one antecedent, and people have said what must and what cannot be one entity. Clusters are
the connected parts of both together; where a part would join what people set apart, its weakest model links are
dropped until it does not. A no therefore never comes back through a third mention.

After an answer only the parts it touches are decoded again; `Decoder.update` with every span is decoding from scratch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from corefine.document import Cluster, Span, normalise
from corefine.links import Links
from corefine.prediction import NONE, Floats, Indices, Prediction


class Nodes:
    """Numbers the mentions of one document: top spans by their row, other spans as they are met."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = list(spans)
        self.rows = len(self.spans)
        self._numbers = {span: number for number, span in enumerate(self.spans)}

    def __len__(self) -> int:
        return len(self.spans)

    def row(self, span: Span) -> int | None:
        """The span's row in the prediction, None if it is no top span."""
        number = self._numbers.get(span)
        return number if number is not None and number < self.rows else None

    def number(self, span: Span) -> int:
        """The span's node, a new one if it has none."""
        number = self._numbers.setdefault(span, len(self.spans))
        if number == len(self.spans):
            self.spans.append(span)
        return number


class Decoder:
    """Clusters of one document, kept up to date as antecedents and links change.

    labels    cluster of each node: the smallest node in it, so a label changes only where a cluster does
    """

    def __init__(self, nodes: Nodes, links: Links) -> None:
        self._nodes = nodes
        self._links = links
        self._antecedent = [NONE] * nodes.rows
        self._strength = [0.0] * nodes.rows
        self._followers: dict[int, set[int]] = {}  # node -> rows whose antecedent it is
        self.labels: Indices = np.arange(nodes.rows, dtype=np.int64)

    def update(self, rows: Iterable[int], antecedents: Indices, strengths: Floats, spans: Iterable[Span]) -> list[int]:
        """Take the rows' new antecedents (`NONE`: epsilon) and links that changed on `spans`; return changed nodes."""
        seeds = {self._nodes.number(span) for span in spans}
        self._grow()
        for row, antecedent, strength in zip(rows, antecedents.tolist(), strengths.tolist(), strict=True):
            before = self._antecedent[row]
            seeds.update(node for node in (row, before, antecedent) if node != NONE)
            if before != NONE:
                self._followers[before].discard(row)
            if antecedent != NONE:
                self._followers.setdefault(antecedent, set()).add(row)
            self._antecedent[row], self._strength[row] = antecedent, strength
        changed: list[int] = []
        for part in self._parts(seeds):
            for cluster in self._split(part):
                label = min(cluster)
                changed.extend(node for node in cluster if self.labels[node] != label)
                self.labels[cluster] = label
        return changed

    def clusters(self) -> tuple[Cluster, ...]:
        """Clusters of two or more mentions, in document order."""
        groups: dict[int, list[Span]] = {}
        for node, label in enumerate(self.labels.tolist()):
            groups.setdefault(label, []).append(self._nodes.spans[node])
        return normalise(group for group in groups.values() if len(group) > 1)

    def _grow(self) -> None:
        """Nodes met since are clusters of their own until they are linked."""
        known = len(self.labels)
        if known < len(self._nodes):
            self.labels = np.concatenate([self.labels, np.arange(known, len(self._nodes), dtype=np.int64)])

    def _parts(self, seeds: set[int]) -> Iterator[list[int]]:
        """Connected parts around the seeds: what could be one cluster if nothing forbade it."""
        seen: set[int] = set()
        for seed in sorted(seeds):
            if seed in seen:
                continue
            seen.add(seed)
            part = [seed]
            entities: set[int] = set()
            for node in part:  # grows as it is gone through
                for neighbour in self._neighbours(node, entities):
                    if neighbour not in seen:
                        seen.add(neighbour)
                        part.append(neighbour)
            yield part

    def _neighbours(self, node: int, entities: set[int]) -> Iterator[int]:
        """Nodes tied to this one; the members of an entity only once, it is then added to `entities`."""
        if node < self._nodes.rows and self._antecedent[node] != NONE:
            yield self._antecedent[node]
        yield from self._followers.get(node, ())
        entity = self._links.entity_id(self._nodes.spans[node])
        if entity is not None and entity not in entities:
            entities.add(entity)
            yield from map(self._nodes.number, self._links.members(entity))

    def _split(self, part: list[int]) -> list[list[int]]:
        """The part as one cluster, or as several where people set some of it apart."""
        entities = {node: self._links.entity_id(self._nodes.spans[node]) for node in part}
        present = {entity for entity in entities.values() if entity is not None}
        if all(present.isdisjoint(self._links.said_apart(entity)) for entity in present):
            return [part]
        groups = _Groups(entities, self._links)
        strongest_first = sorted(
            (node for node in part if node < self._nodes.rows and self._antecedent[node] != NONE),
            key=lambda node: (-self._strength[node], node),
        )
        for node in strongest_first:
            groups.join(node, self._antecedent[node])
        return groups.members()


class _Groups:
    """Disjoint groups of nodes that refuse to join where an entity of one cannot be an entity of the other."""

    def __init__(self, entities: dict[int, int | None], links: Links) -> None:
        self._group = {node: [node] for node in entities}
        self._entities: dict[int, set[int]] = {node: set() for node in entities}
        self._links = links
        self._root = {node: node for node in entities}
        first_of: dict[int, int] = {}
        for node, entity in entities.items():
            if entity is not None:
                self._entities[node].add(entity)
                self._merge(first_of.setdefault(entity, node), node)

    def join(self, a: int, b: int) -> None:
        small, large = self._root[a], self._root[b]
        if len(self._entities[small]) > len(self._entities[large]):
            small, large = large, small
        others = self._entities[large]
        if all(others.isdisjoint(self._links.said_apart(entity)) for entity in self._entities[small]):
            self._merge(a, b)

    def members(self) -> list[list[int]]:
        return [self._group[node] for node, root in self._root.items() if node == root]

    def _merge(self, a: int, b: int) -> None:
        into, from_ = self._root[a], self._root[b]
        if into == from_:
            return
        if len(self._group[into]) < len(self._group[from_]):
            into, from_ = from_, into
        for node in self._group[from_]:
            self._root[node] = into
        self._group[into] += self._group.pop(from_)
        self._entities[into] |= self._entities.pop(from_)


def decode(prediction: Prediction, links: Links | None = None) -> tuple[Cluster, ...]:
    """The clusters of a prediction, given these answers."""
    from corefine.revision import Revision

    return Revision(prediction, links if links is not None else Links()).clusters()
