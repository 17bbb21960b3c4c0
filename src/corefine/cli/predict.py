"""`corefine predict`: entities in files and folders."""

from __future__ import annotations

import time
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING

import typer

from corefine.cli.options import (
    Cache,
    Device,
    From,
    Json,
    Language,
    Lossy,
    ModelName,
    SkipFaulty,
    Source,
    Target,
    Threads,
    To,
)
from corefine.cli.output import progress, show_fault, show_json

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
    skip_faulty: SkipFaulty = False,
    device: Device = "auto",
    threads: Threads = None,
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Find the entities of every document in IN and write the documents with them to OUT. --json goes to stderr."""
    from corefine.formats.languages import detect, is_english_code, language_name
    from corefine.models.load import RULES, is_english, load, model_folder, need_model

    if model_folder(model) is not None:
        need_model()
    if model != RULES and find_spec("torch") is not None:  # a model from outside may do without
        from corefine.models.devices import use_threads

        use_threads(threads)
    from corefine.models.predict_files import Options, predict_files

    resolver = load(model, device=device, cache=cache)
    options = Options(read_as=from_, write_as=to, language=language, lossy=lossy, skip_faulty=skip_faulty)
    knows_english_only = is_english(model)
    foreign: Counter[str] = Counter()
    seen = {"documents": 0, "tokens": 0, "entities": 0, "mentions": 0}
    began = time.monotonic()
    with progress("predicting", quiet=json) as advance:

        def count(result: Result) -> None:
            seen["documents"] += 1
            seen["tokens"] += len(result.document)
            seen["entities"] += len(result.clusters)
            seen["mentions"] += sum(map(len, result.clusters))
            document = result.document
            language = document.language or detect(document.text or " ".join(document.tokens))
            if knows_english_only and language and not is_english_code(language):
                foreign[language_name(language)] += 1
            advance()

        predict_files(resolver, source, target, options, on_result=count, on_fault=show_fault)
    if json:
        show_json(seen | {"foreign": dict(foreign), "seconds": time.monotonic() - began}, err=True)
    else:
        for name, number in foreign.items():
            documents = "1 document is" if number == 1 else f"{number} documents are"
            typer.echo(f"corefine: {documents} in {name}, and the model {model} knows only English", err=True)
        found = f"{seen['entities']} entities with {seen['mentions']} mentions"
        typer.echo(f"{seen['documents']} documents, {seen['tokens']} tokens: {found}", err=True)
