"""The mentions of a document in CorefUD's form, with empty nodes and a head, for scoring by its conventions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from corefine.document import Document
from corefine.formats.conllu.extra import ConlluExtra
from corefine.formats.conllu.mentions import all_mentions

Node = tuple[int, int, int]
"""Sentence, number of the word, and 0; or the number of the word before an empty node, and the number of the node."""

_DEPS = 7
"""Place of the column DEPS among the columns 2 to 10."""


class NodeMention(NamedTuple):
    """A mention: its nodes in order, its head, whether that is an empty node, and what the head depends on."""

    words: tuple[Node, ...]
    head: Node
    zero: bool
    deps: frozenset[tuple[str, str]]


def node_clusters(document: Document) -> list[list[NodeMention]]:
    """The entities, with the zero mentions that the clusters do not have."""
    extra = ConlluExtra.of(document)
    nodes, names = _nodes(document, extra)
    place = {name: number for number, name in enumerate(names)}
    fields = extra.fields.split("-")
    head_field = fields.index("head") if "head" in fields else None
    clusters: dict[str, list[NodeMention]] = {}
    for mention in all_mentions(document, extra):
        covered = [n for first, last in mention.parts for n in range(place[first], place[last] + 1)]
        words = tuple(nodes[number] for number in covered)
        body = f"{mention.before}{mention.entity}{mention.after}".split("-")
        said = body[head_field] if head_field is not None and head_field < len(body) else ""
        index = int(said) - 1 if said.isascii() and said.isdigit() else 0
        number = covered[index] if 0 <= index < len(covered) else covered[0]
        name = names[number]
        zero = name.startswith("z")
        deps = _deps(extra.rows[int(name[1:])][3]) if zero else frozenset()
        clusters.setdefault(mention.entity, []).append(NodeMention(words, nodes[number], zero, deps))
    return list(clusters.values())


def _nodes(document: Document, extra: ConlluExtra) -> tuple[list[Node], list[str]]:
    """All words and empty nodes in order, and their names in `extra`."""
    empty: dict[tuple[int, int], list[tuple[Node, str]]] = {}
    for number, (sentence, after, id_, _) in enumerate(extra.rows):
        if "." in id_:
            word, _, minor = id_.partition(".")
            empty.setdefault((sentence, after), []).append(((sentence, int(word), int(minor)), f"z{number}"))
    found: list[tuple[Node, str]] = []
    for sentence, span in enumerate(document.sentence_spans):
        found += empty.get((sentence, 0), ())
        for number, token in enumerate(range(span.start, span.end + 1), start=1):
            found.append(((sentence, number, 0), str(token)))
            found += empty.get((sentence, number), ())
    return [node for node, _ in found], [name for _, name in found]


def _deps(columns: str) -> frozenset[tuple[str, str]]:
    """The parents and relations of an empty node."""
    cell: Sequence[str] = columns.split("\t")[_DEPS : _DEPS + 1]
    pairs = cell[0].split("|") if cell and cell[0] != "_" else []
    return frozenset((parent, relation) for parent, _, relation in (pair.partition(":") for pair in pairs))
