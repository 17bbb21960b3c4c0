"""CoNLL-U with the `Entity` attribute of CorefUD."""

from corefine.formats.conllu.extra import LAYERS, NAME
from corefine.formats.conllu.reader import read
from corefine.formats.conllu.writer import losses, render
from corefine.formats.expresses import Expresses

__all__ = ["EXPRESSES", "NAME", "losses", "read", "render"]

EXPRESSES = Expresses(
    discontinuous=True,
    speakers="sentence",
    genre=True,
    language=True,
    part=True,
    layers=LAYERS,
    attributes="names and attributes",
)
