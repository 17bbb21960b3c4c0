"""`corefine encoders`: the encoders that are known by name."""

from __future__ import annotations

from corefine.cli.options import Json
from corefine.cli.output import show_json, show_table


def encoders(json: Json = False) -> None:
    """List the encoders that are known by name, and whether their weights are on this machine.

    Use one in a recipe: [model.encoder] kind = "transformer", path = NAME. Any other Hugging Face encoder can be used
    by its folder or its name on the hub.
    """
    from corefine.errors import WeightsError
    from corefine.models.load import need_model
    from corefine.models.network.encoders.known import KnownEncoder, known_encoders, local_folder

    need_model()

    def here(known: KnownEncoder) -> str:
        try:
            return "yes" if local_folder(known) else ""
        except WeightsError:
            return "in part"

    rows = [
        {
            "name": each.name,
            "parameters": each.parameters * 1_000_000,
            "languages": each.languages,
            "licence": each.licence,
            "hub": each.hub,
            "here": here(each),
            "install": each.install,
        }
        for each in known_encoders()
    ]
    if json:
        show_json(rows)
        return
    shown = [
        (each.name, f"{each.parameters} M", each.languages, each.licence, each.hub, here(each))
        for each in known_encoders()
    ]
    show_table(("name", "parameters", "languages", "licence", "hub", "here"), shown)
