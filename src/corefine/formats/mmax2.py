"""MMAX2 projects, which can only be read: `NAME.mmax`, its words, and its levels of markables.

The words are in `NAME_words.xml`, the markables of a level in `NAME_LEVEL_level.xml`. They are beside the project file,
or in the folders that `common_paths.xml` names. A level whose markables have `coref_class` or `coref_set` holds the
mentions, the level `sentence` the sentences. Everything else is named but not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from corefine.document import Document, Span, span_of
from corefine.errors import InputError
from corefine.formats.source import Source
from corefine.formats.text import name_and_part

NAME = "mmax2"
CLASSES = ("coref_class", "coref_set")
"""The attributes that name a markable's entity, in different schemes."""

NOTHING = frozenset(("", "empty", "none", "null"))
"""The values of such an attribute that stand for no entity."""

OWN = frozenset(("id", "span", "mmax_level", *CLASSES))
"""The attributes that are read, or say nothing more."""

FOLDERS = ("Basedata", "basedata", "Markables", "markables")
"""Where the files usually are, if `common_paths.xml` does not say it."""


@dataclass(slots=True)
class _Element:
    """An element of an XML file, without its children."""

    name: str
    attributes: Mapping[str, str]
    line: int
    text: str = ""


@dataclass(slots=True)
class _Level:
    """A level: each markable with its words, its entity (None if it has none) and its line."""

    name: str
    markables: list[tuple[Span, str | None, int]] = field(default_factory=list)
    has_classes: bool = False
    unread: Counter[str] = field(default_factory=Counter)
    """Other attributes, and how many markables have them."""


def read(source: Source) -> Iterator[Document]:
    if source.path is None:
        raise InputError("an MMAX2 project is several files: give the path of its .mmax file, not a stream")
    document = _Project(source, source.path).document()
    if document is not None:
        yield document


class _Project:
    """A project whose files are read one after another."""

    def __init__(self, source: Source, path: Path) -> None:
        self.source = source
        self.folder = path.parent
        self.name, self.part = name_and_part(source.stem)
        source.begin(self.name, self.part)
        self.opened = [source]

    def document(self) -> Document | None:
        said = {element.name: element.text.strip() for element in _elements(self.source)}
        words_file = Path(said.get("words") or f"{self.source.stem}_words.xml").name  # of no other folder
        folders = self._folders()
        path = next((path for folder in folders if (path := folder / words_file).is_file()), None)
        if path is None:
            self.source.fault(f"{words_file} is missing: a project needs its words")
            return None
        words = [each for each in _elements(self._open(path)) if each.name == "word"]
        number = {each.attributes.get("id", ""): index for index, each in enumerate(words)}
        begin = f"{path.stem.removesuffix('_words')}_"
        files = [file for folder in folders for file in sorted(folder.iterdir()) if file.name.startswith(begin)]
        files = [file for file in files if file.name.endswith("_level.xml") and file.is_file()]
        levels = [self._level(file, file.stem.removesuffix("_level").removeprefix(begin), number) for file in files]
        clusters = self._clusters(levels)
        starts = self._sentence_starts(levels, len(words))
        if any(each.broken for each in self.opened):
            return None
        tokens = [each.text.strip() for each in words]
        return self.source.document(self.name, tokens, starts, clusters, part=self.part)

    def _open(self, path: Path) -> Source:
        """Another file of the project, whose faults are those of the document."""
        self.opened.append(self.source.beside(path))
        self.opened[-1].begin(self.name, self.part)
        return self.opened[-1]

    def _folders(self) -> list[Path]:
        """The folders in which the files of the project may be: none outside the project's own."""
        paths = self.folder / "common_paths.xml"
        elements = _elements(self._open(paths)) if paths.is_file() else []
        named = [each.text.strip() for each in elements if each.name in ("basedata_path", "markable_path")]
        around = [(self.folder / each).resolve() for each in ("", *named, *FOLDERS)]
        inside = [each for each in around if each.is_relative_to(self.folder.resolve()) and each.is_dir()]
        return list(dict.fromkeys(inside))

    def _level(self, path: Path, name: str, number: Mapping[str, int]) -> _Level:
        source = self._open(path)
        level = _Level(name)
        for element in _elements(source):
            if element.name != "markable":
                continue
            span = _span(element.attributes.get("span", ""), number)
            if span is None:
                what = f"the span {element.attributes.get('span', '')[:60]!r} names words that do not exist"
                source.fault(what, line=element.line, mendable=True)
                continue
            said = next((element.attributes[each] for each in CLASSES if each in element.attributes), None)
            level.has_classes |= said is not None
            entity = None if said is None or said.lower() in NOTHING else said
            level.markables.append((span, entity, element.line))
            level.unread.update(each for each in element.attributes if each not in OWN)
        return level

    def _clusters(self, levels: Sequence[_Level]) -> dict[str, list[Span]]:
        """The entities of the level that has them. A markable without an entity is one of its own."""
        with_classes = [level for level in levels if level.has_classes]
        chosen = next((level for level in [*with_classes, *levels] if level.name == "coref"), None)
        if chosen is None and with_classes:
            chosen = with_classes[0]
        if chosen is None:
            there = ", ".join(level.name for level in levels) or "none"
            what = f"no level has {' or '.join(CLASSES)}, so there are no entities (levels: {there})"
            self.source.fault(what, fatal=False)
            return {}
        unread = [f"level {level.name}" for level in levels if level is not chosen and level.name != "sentence"]
        unread += [f"attribute {name} of {count} markables" for name, count in chosen.unread.items()]
        if unread:
            self.source.fault(f"not read: {', '.join(unread)}", fatal=False)
        clusters: dict[str, list[Span]] = {}
        for span, entity, line in chosen.markables:
            clusters.setdefault(entity or f"of line {line}", []).append(span)
        return clusters

    def _sentence_starts(self, levels: Sequence[_Level], size: int) -> list[int]:
        sentences = next((level for level in levels if level.name == "sentence"), None)
        if sentences is None:
            what = "there is no level `sentence`: all words are read as one sentence"
            self.source.fault(what, fatal=False)
        starts = {span.start for span, _, _ in sentences.markables} if sentences is not None else set()
        return sorted({0, *starts}) if size else []


def _span(said: str, number: Mapping[str, int]) -> Span | None:
    """The words of `word_1..word_3,word_7`; None if there are none, or not all of them exist."""
    parts = []
    for piece in said.split(","):
        first, _, last = piece.strip().partition("..")
        start, end = number.get(first), number.get(last or first)
        if start is None or end is None or start > end:
            return None
        parts.append((start, end))
    return span_of(parts)


def _elements(source: Source) -> list[_Element]:
    """The elements of an XML file, in the order in which they begin."""
    found: list[_Element] = []
    inside: list[_Element] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        found.append(_Element(name.rpartition(":")[2], attributes, parser.CurrentLineNumber))
        inside.append(found[-1])

    def characters(text: str) -> None:
        inside[-1].text += text

    def entity(name: str, *_: object) -> None:
        raise InputError(f"the entity {name} is declared, which is not read; remove the declaration")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: inside.pop()
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = entity
    parser.buffer_text = True
    try:
        parser.Parse(source.content(), True)
    except expat.ExpatError as error:
        source.fault(f"this is not XML: {expat.ErrorString(error.code)}", line=error.lineno)
    except (InputError, LookupError, ValueError) as error:  # an encoding that Python does not know, for example
        source.fault(str(error), line=parser.CurrentLineNumber)
    return found
