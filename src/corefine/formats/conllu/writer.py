"""CoNLL-U with the `Entity` attribute of CorefUD: writing.

What the reader left in `extra` is written back around the document's clusters. If the clusters have changed since, an
entity keeps the name that most of its mentions had, and a mention its attributes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from corefine.document import Document, Span
from corefine.formats import losses as lost
from corefine.formats.brackets import cells
from corefine.formats.conllu.extra import LAYERS, NAME, OF_DOCUMENT, OF_SENTENCE, ConlluExtra, without_entity
from corefine.formats.conllu.mentions import mentions_to_write


def losses(document: Document) -> Counter[str]:
    extra = ConlluExtra.of(document)
    order = chain.from_iterable(_nodes(document, extra))
    _, left_out = mentions_to_write(document, extra, {node: number for number, node in enumerate(order)})
    misc = document.layers.get("misc", ())
    speaking = [_speaking(document, sentence) for sentence in document.sentence_spans]
    named = {document.name, document.genre, document.language, *chain.from_iterable(speaking)}
    return (
        lost.in_columns(document, LAYERS)
        + lost.of_extra(document, NAME)
        + lost.count(
            crossing_mentions_of_one_entity=left_out,
            sentences_with_several_speakers=sum(len(each) > 1 for each in speaking),
            names_that_a_comment_cannot_hold=sum(not _fits(name) for name in named if name is not None),
            attributes_of_layer_misc_called_Entity=sum(without_entity(cell) != cell for cell in misc),
        )
    )


def _fits(name: str) -> bool:
    """Whether the name can be read back from a comment."""
    return bool(name) and name == name.strip() and not lost.breaks(name)


def _speaking(document: Document, sentence: Span) -> set[str | None]:
    return set(document.speakers[sentence.start : sentence.end + 1]) if document.speakers else set()


def render(document: Document) -> str:
    extra = ConlluExtra.of(document)
    nodes = _nodes(document, extra)
    position = {node: number for number, node in enumerate(chain.from_iterable(nodes))}
    mentions, _ = mentions_to_write(document, extra, position)
    names = {mention.entity for mention in mentions}
    opened: dict[int, set[str]] = defaultdict(set)
    for mention in mentions:
        opened[position[mention.parts[0][0]]].add(mention.entity)
    marks = [(position[a], position[z], o, c) for mention in mentions for a, z, o, c in mention.brackets()]
    entities = cells(marks, len(position), "")
    columns = [document.layers.get(layer, ("_",) * len(document)) for layer in LAYERS]
    lines = list(_of_document(document, extra, bool(mentions)))
    for number, (sentence, mine) in enumerate(zip(document.sentence_spans, nodes, strict=True)):
        lines += _of_sentence(extra.comments[number : number + 1], _speaking(document, sentence))
        for node in mine:
            if node.startswith("z"):
                _, _, id_, rest = extra.rows[int(node[1:])]
                row = [id_, *rest.split("\t")]
            else:
                token = int(node)
                row = [str(token - sentence.start + 1), document.tokens[token], *(column[token] for column in columns)]
            row[-1] = _with_entity(_pointing(row[-1], names, opened.get(position[node], ())), entities[position[node]])
            lines.append("\t".join(map(lost.mended, row)))
        lines.append("")
    if not document.tokens:
        lines.append("")
    return "\n".join([*lines, ""])


def _nodes(document: Document, extra: ConlluExtra) -> list[list[str]]:
    """The lines of each sentence: the number of a token, or z and the number of another row."""
    others: dict[tuple[int, int], list[str]] = defaultdict(list)
    for number, (sentence, after, _, _) in enumerate(extra.rows):
        others[sentence, after].append(f"z{number}")
    nodes: list[list[str]] = []
    for sentence, span in enumerate(document.sentence_spans):
        mine = [*others[sentence, 0]]
        for after, token in enumerate(range(span.start, span.end + 1), start=1):
            mine += [str(token), *others[sentence, after]]
        nodes.append(mine)
    return nodes


def _of_document(document: Document, extra: ConlluExtra, mentions: bool) -> Iterator[str]:
    yield f"# newdoc id = {_line(document.name)}"
    if mentions or extra.declared:
        yield f"# global.Entity = {extra.fields}"
    if document.part:
        yield f"# part = {document.part}"
    if document.genre is not None and f"# meta::genre = {document.genre}" not in chain(*extra.comments[:1]):
        yield f"# genre = {_line(document.genre)}"
    if document.language is not None:
        yield f"# lang = {_line(document.language)}"


def _of_sentence(comments: Iterable[Iterable[str]], speaking: Iterable[str | None]) -> Iterator[str]:
    for comment in chain.from_iterable(comments):
        if not (OF_DOCUMENT.match(comment) or OF_SENTENCE.match(comment)):
            yield _line(comment)
    for name in sorted(name for name in speaking if name is not None)[:1]:
        yield f"# speaker = {_line(name)}"


def _line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


def _pointing(misc: str, names: Collection[str], opened: Collection[str]) -> str:
    """MISC with `Bridge` and `SplitAnte` pointing to entities that are written, from mentions that begin here."""
    if "Bridge=" not in misc and "SplitAnte=" not in misc:
        return misc
    kept = []
    for attribute in misc.split("|"):
        key, _, value = attribute.partition("=")
        if key in ("Bridge", "SplitAnte"):
            pairs = []
            for pair in value.split(","):
                target, _, origin = pair.partition("<")
                if target in names and origin.partition(":")[0] in opened:
                    pairs.append(pair)
            attribute = f"{key}={','.join(pairs)}" if pairs else ""
        kept.append(attribute)
    return "|".join(filter(None, kept)) or "_"


def _with_entity(misc: str, entity: str) -> str:
    """MISC with the Entity attribute, in alphabetical order."""
    kept = without_entity(misc)
    if not entity:
        return kept
    attributes = [] if kept == "_" else kept.split("|")
    place = next((n for n, attribute in enumerate(attributes) if attribute.lower() > "entity="), len(attributes))
    return "|".join([*attributes[:place], f"Entity={entity}", *attributes[place:]])
