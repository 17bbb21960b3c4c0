"""From antecedents to clusters, with every answer respected.

Each top span has at most one antecedent. Answers say what must and what cannot be one entity. Clusters are the
connected parts of both together. If a part would join what answers set apart, its weakest model links are dropped
until it does not, so a no is never undone through a third mention.

After an answer only the parts that it touches are decoded again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from corefine.document import Cluster, Span, normalise
from corefine.links import Links
from corefine.prediction import NONE, Floats, Indices


class Nodes:
    """Numbers the mentions of one document: top spans by row, then other spans as they come."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = list(spans)
        self.rows = len(self.spans)
        self._numbers = {span: number for number, span in enumerate(self.spans)}

    def __len__(self) -> int:
        return len(self.spans)

    def row(self, span: Span) -> int | None:
        """The span's row in the prediction, None if it is not a top span."""
        number = self._numbers.get(span)
        return number if number is not None and number < self.rows else None

    def get_or_add(self, span: Span) -> int:
        """The span's node; a new one if needed."""
        number = self._numbers.setdefault(span, len(self.spans))
        if number == len(self.spans):
            self.spans.append(span)
        return number


class Decoder:
    """The clusters of one document, updated as antecedents and links change.

    labels    the cluster of each node, named by one of its nodes. Labels stay the same where possible.
    """

    def __init__(self, nodes: Nodes, links: Links) -> None:
        self._nodes = nodes
        self._links = links
        self._antecedent = [NONE] * nodes.rows
        self._strength = [0.0] * nodes.rows
        self._followers: defaultdict[int, set[int]] = defaultdict(set)  # of nodes, the rows whose antecedent each is
        self._entity: list[int | None] = []  # of each node
        self.labels: Indices = np.zeros(0, dtype=np.int64)
        self._grow()

    def update(self, rows: Iterable[int], antecedents: Indices, strengths: Floats, spans: Iterable[Span]) -> list[int]:
        """Take the rows' new antecedents (`NONE`: epsilon) and changed links on `spans`; return relabelled nodes."""
        seeds = {self._nodes.get_or_add(span) for span in spans}
        self._grow()
        for node in seeds:
            self._entity[node] = self._links.entity_id(self._nodes.spans[node])
        for row, antecedent, strength in zip(rows, antecedents.tolist(), strengths.tolist(), strict=True):
            before = self._antecedent[row]
            seeds.add(row)
            if before != NONE:
                seeds.add(before)
                self._followers[before].discard(row)
            if antecedent != NONE:
                seeds.add(antecedent)
                self._followers[antecedent].add(row)
            self._antecedent[row], self._strength[row] = antecedent, strength
        changed: list[int] = []
        alone: list[int] = []
        for part in self._parts(seeds):
            for cluster in self._split(part):
                if len(cluster) == 1:
                    alone += cluster
                else:
                    changed += self._label(cluster)
        return changed + self._label_alone(alone)

    def clusters(self) -> tuple[Cluster, ...]:
        """Clusters of two or more mentions, in document order."""
        groups: dict[int, list[Span]] = {}
        for node, label in enumerate(self.labels.tolist()):
            groups.setdefault(label, []).append(self._nodes.spans[node])
        return normalise(group for group in groups.values() if len(group) > 1)

    def _grow(self) -> None:
        """Make each new node a cluster of its own."""
        known, size = len(self.labels), len(self._nodes)
        if known < size:
            self.labels = np.concatenate([self.labels, np.arange(known, size, dtype=np.int64)])
            self._entity += [None] * (size - known)

    def _label(self, cluster: list[int]) -> list[int]:
        """Label a cluster with the most common label that is one of its nodes; return the relabelled nodes."""
        before = self.labels[cluster].tolist()
        if before == cluster:  # each node was alone
            label = min(cluster)
        else:
            inside = set(cluster)
            counts = Counter(label for label in before if label in inside)
            label = min(counts, key=lambda label: (-counts[label], label)) if counts else min(cluster)
        self.labels[cluster] = label
        return [node for node, known in zip(cluster, before, strict=True) if known != label]

    def _label_alone(self, nodes: list[int]) -> list[int]:
        """Label clusters of one node each, which most are; return the relabelled nodes."""
        numbers = np.array(nodes, dtype=np.int64)
        moved: Indices = numbers[self.labels[numbers] != numbers]
        self.labels[moved] = moved
        relabelled: list[int] = moved.tolist()
        return relabelled

    def _parts(self, seeds: set[int]) -> Iterator[list[int]]:
        """The connected parts around the seeds: what would be one cluster if nothing were set apart."""
        antecedent, followers, entity, rows = self._antecedent, self._followers, self._entity, self._nodes.rows
        seen: set[int] = set()
        followed: set[int] = set()
        for seed in sorted(seeds):
            if seed in seen:
                continue
            seen.add(seed)
            part = [seed]
            for node in part:  # grows during the loop
                tied = list(followers.get(node, ()))
                if node < rows and antecedent[node] != NONE:
                    tied.append(antecedent[node])
                own = entity[node]
                if own is not None and own not in followed:
                    followed.add(own)
                    tied += map(self._nodes.get_or_add, self._links.members(own))
                for neighbour in tied:
                    if neighbour not in seen:
                        seen.add(neighbour)
                        part.append(neighbour)
            yield part

    def _split(self, part: list[int]) -> list[list[int]]:
        """The part as one cluster, or as several if answers set some of it apart."""
        if len(part) == 1:
            return [part]
        present = {entity for node in part if (entity := self._entity[node]) is not None}
        clashes = {
            entity: clash for entity in present if (clash := present.intersection(self._links.cannot_entities(entity)))
        }
        if not clashes:
            return [part]
        groups = _Groups({node: self._entity[node] for node in part}, clashes)
        for _, node, antecedent in sorted(self._links_between(part)):
            groups.join(node, antecedent)
        return groups.members()

    def _links_between(self, part: list[int]) -> Iterator[tuple[float, int, int]]:
        """The model's links in a part that join different entities, as (-strength, node, antecedent)."""
        entity, antecedents, strength = self._entity, self._antecedent, self._strength
        for node in part:
            if node < self._nodes.rows and (antecedent := antecedents[node]) != NONE:
                own = entity[node]
                if own is None or own != entity[antecedent]:
                    yield -strength[node], node, antecedent


class _Groups:
    """Disjoint groups of nodes. Two groups do not join if an entity of one cannot be an entity of the other."""

    def __init__(self, entities: dict[int, int | None], clashes: dict[int, set[int]]) -> None:
        self._root = {node: node for node in entities}
        self._members = {node: [node] for node in entities}
        self._entities: dict[int, set[int]] = {}  # of each group, those that clash with another
        self._clashes: dict[int, set[int]] = {}
        first_of: dict[int, int] = {}
        for node, entity in entities.items():
            if entity is None:
                continue
            first = first_of.setdefault(entity, node)
            if first != node:
                self._merge(self._root[first], node)
            elif entity in clashes:
                self._entities[node] = {entity}
                self._clashes[node] = set(clashes[entity])

    def join(self, a: int, b: int) -> None:
        """Merge the groups of two nodes, unless answers set something in them apart."""
        one, other = self._root[a], self._root[b]
        if one == other:
            return
        if one in self._clashes and not self._clashes[one].isdisjoint(self._entities.get(other, ())):
            return
        self._merge(one, other)

    def members(self) -> list[list[int]]:
        return list(self._members.values())

    def _merge(self, into: int, from_: int) -> None:
        if len(self._members[into]) < len(self._members[from_]):
            into, from_ = from_, into
        for node in self._members[from_]:
            self._root[node] = into
        self._members[into] += self._members.pop(from_)
        for table in (self._entities, self._clashes):
            if from_ in table:
                table[into] = table.get(into, set()) | table.pop(from_)
