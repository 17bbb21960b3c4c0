"""`corefine predict`: entities in files and folders."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

import typer

from corefine.cli.options import Cache, Device, From, Json, Language, Lossy, ModelName, Source, Target, Threads, To
from corefine.cli.output import progress, show_json

if TYPE_CHECKING:
    from corefine.models.resolver import Result


def predict(
    source: Source,
    target: Target,
    model: ModelName = "starter",
    from_: From = None,
    to: To = None,
    language: Language = None,
    lossy: Lossy = False,
    device: Device = "auto",
    threads: Threads = None,
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Find the entities of every document in IN and write the documents with them to OUT. --json goes to stderr."""
    from corefine.models.load import RULES, load, model_folder, need_model

    if model_folder(model) is not None:
        need_model()
    if model != RULES and find_spec("torch") is not None:  # a model from outside may do without
        from corefine.models.devices import use_threads

        use_threads(threads)
    from corefine.models.predict_files import Options, predict_files

    resolver = load(model, device=device, cache=cache)
    options = Options(read_as=from_, write_as=to, language=language, lossy=lossy)
    seen = {"documents": 0, "tokens": 0, "entities": 0, "mentions": 0}
    began = time.monotonic()
    with progress("predicting", quiet=json) as advance:

        def count(result: Result) -> None:
            seen["documents"] += 1
            seen["tokens"] += len(result.document)
            seen["entities"] += len(result.clusters)
            seen["mentions"] += sum(map(len, result.clusters))
            advance()

        predict_files(resolver, source, target, options, on_result=count)
    if json:
        show_json(seen | {"seconds": time.monotonic() - began}, err=True)
    else:
        found = f"{seen['entities']} entities with {seen['mentions']} mentions"
        typer.echo(f"{seen['documents']} documents, {seen['tokens']} tokens: {found}", err=True)
