"""The type systems of UIMA CAS: the one beside a file, or one with the types that coreference needs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from corefine.errors import MissingExtraError
from corefine.formats.source import Source

if TYPE_CHECKING:
    from cassis import TypeSystem  # type: ignore[import-untyped]

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
TOKEN, SENTENCE = f"{_DKPRO}.segmentation.type.Token", f"{_DKPRO}.segmentation.type.Sentence"
CHAIN, LINK = f"{_DKPRO}.coref.type.CoreferenceChain", f"{_DKPRO}.coref.type.CoreferenceLink"
METADATA = f"{_DKPRO}.metadata.type.DocumentMetaData"

_ELEMENT = re.compile(r"<([\w.-]+):([\w.-]+)((?:\s+[\w:.-]+=(?:\"[^\"]*\"|'[^']*'))*)\s*/?>")
_ATTRIBUTE = re.compile(r"\s([\w:.-]+)=")
_NAMESPACE = re.compile(r"xmlns:([\w.-]+)=[\"']http:///([\w/.-]*)\.ecore[\"']")


@contextmanager
def library() -> Iterator[Any]:
    """The library, with its warnings silenced; they are reported as faults."""
    try:
        import cassis
    except ImportError as error:
        raise MissingExtraError("dkpro-cassis", "uima") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield cassis


def typesystem_of(source: Source, data: bytes) -> tuple[TypeSystem, bool]:
    """The type system beside the file, and True; or one with the types that coreference needs, and False."""
    with library() as cassis:
        if source.path is not None:
            folder = source.path.parent
            for name in (f"{source.stem}.typesystem.xml", "TypeSystem.xml", "typesystem.xml"):
                if (folder / name).is_file():
                    try:
                        return cassis.load_typesystem((folder / name).read_bytes().decode()), True
                    except Exception as error:
                        source.fault(f"{folder / name} is not a type system: {str(error)[:100]}", fatal=False)
        return _inferred(data.decode(errors="replace")), False


def _inferred(xmi: str) -> TypeSystem:
    """Tokens, sentences, and the types that look like chains or CorefAnnotator's mentions."""
    with library() as cassis:
        typesystem: TypeSystem = cassis.TypeSystem()
    packages = {prefix: path.replace("/", ".") for prefix, path in _NAMESPACE.findall(xmi)}
    found: dict[str, set[str]] = {}
    for prefix, local, attributes in _ELEMENT.findall(xmi):
        if prefix in packages:
            found.setdefault(f"{packages[prefix]}.{local}", set()).update(_ATTRIBUTE.findall(attributes))
    for name in (TOKEN, SENTENCE):
        add_type(typesystem, name, found.get(name, set()))
    chains = [name for name, has in found.items() if name.endswith("Chain") and ("first" in has or len(has) <= 2)]
    for name in chains:
        link = name.removesuffix("Chain") + "Link"
        if link not in found or typesystem.contains_type(name):
            continue
        add_chain(typesystem, name, link, sorted(found[link] - {"xmi:id", "sofa", "begin", "end", "next"}))
    for name, has in found.items():
        if name.endswith(".Mention") and "Entity" in has:
            entity = name.removesuffix("Mention") + "Entity"
            add_type(typesystem, entity, found.get(entity, set()) | {"Label"}, "uima.cas.TOP")
            add_type(typesystem, name, has - {"Entity"})
            typesystem.create_feature(name, "Entity", entity)
    return typesystem


def add_type(typesystem: TypeSystem, name: str, attributes: set[str], base: str = "uima.tcas.Annotation") -> None:
    """A type whose features are all strings."""
    typesystem.create_type(name, base)
    for attribute in sorted(attributes - {"xmi:id", "sofa", "begin", "end"}):
        typesystem.create_feature(name, attribute, "uima.cas.String")


def basic_typesystem() -> TypeSystem:
    with library() as cassis:
        typesystem: TypeSystem = cassis.TypeSystem()
        typesystem.create_type(TOKEN)
        typesystem.create_type(SENTENCE)
        typesystem.create_type(METADATA, "uima.tcas.DocumentAnnotation")
        for feature in ("documentTitle", "documentId"):
            typesystem.create_feature(METADATA, feature, "uima.cas.String")
        add_chain(typesystem, CHAIN, LINK, ["referenceType", "referenceRelation"])
    return typesystem


def add_chain(typesystem: TypeSystem, chain: str, link: str, features: list[str]) -> None:
    typesystem.create_type(chain, "uima.cas.AnnotationBase")
    typesystem.create_type(link)
    typesystem.create_feature(chain, "first", link)
    typesystem.create_feature(link, "next", link)
    for feature in features:
        typesystem.create_feature(link, feature, "uima.cas.String")
