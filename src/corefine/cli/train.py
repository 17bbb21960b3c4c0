"""`corefine train`: a model from labelled documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corefine.cli.options import Cache, Device, Json, Mirror, Threads, Vectors
from corefine.cli.output import show_json

if TYPE_CHECKING:
    from corefine.corpora import Corpus
    from corefine.document import Document
    from corefine.models.training.recipe import Recipe


Changes = Annotated[
    list[str] | None, typer.Option("--set", help="One setting, such as training.epochs=5; may be repeated.")
]


def train(
    corpus: Annotated[
        list[str] | None, typer.Argument(help="Names of corpora, or files and folders; see `corefine data list`.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the model.")] = None,
    config: Annotated[str, typer.Option(help="A TOML file, or a recipe that ships with corefine.")] = "default",
    set_: Changes = None,
    vectors: Vectors = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run in --out.")] = False,
    warm: Annotated[str | None, typer.Option(help="Begin with this model: a folder, starter or strong.")] = None,
    dev: Annotated[str | None, typer.Option(help="Development documents, if not those of the corpora.")] = None,
    members: Annotated[
        int | None, typer.Option(help="More than one trains a committee; by default as many as --warm has, or 1.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Members that train at the same time.")] = None,
    device: Device = "auto",
    threads: Threads = None,
    cache: Cache = None,
    mirror: Mirror = None,
    score_test: Annotated[bool, typer.Option("--score-test", help="Score the model on test at the end.")] = False,
    show_config: Annotated[bool, typer.Option("--show-config", help="Print all settings as TOML and exit.")] = False,
    json: Json = False,
) -> None:
    """Train a model, or a committee, on the train split of each CORPUS; stop when the dev split gets no better."""
    from corefine.models.load import need_model

    need_model()
    from corefine.annotation.labels import Labels
    from corefine.cli.training_progress import show_training
    from corefine.corpora import load_corpus
    from corefine.errors import InputError
    from corefine.files import home_folder, make_folder
    from corefine.models.committee import member_count
    from corefine.models.training.jobs import TrainingJob, run
    from corefine.models.training.recipe import load_recipe

    recipe = load_recipe(config).adapted(set_ or [], vectors)
    if show_config:
        typer.echo(recipe.to_toml(), nl=False)
        return
    if not corpus or out is None:
        raise InputError("give at least one corpus, and --out FOLDER for the model")
    make_folder(out)
    corpora = [_divided(load_corpus(name, mirror=mirror)) for name in corpus]
    documents, development = _documents(corpora, load_corpus(dev, mirror=mirror) if dev else None)
    begin = _warm(warm)
    if begin is None:  # otherwise the settings are that model's
        _say_what_is_english(recipe, documents)
    job = TrainingJob(
        recipe=recipe,
        labels=[Labels(document) for document in documents],
        dev=development,
        folder=out,
        device=device,
        threads=threads,
        resume=resume,
        warm=begin,
        members=member_count(begin) if members is None else members,
        workers=workers,
        cache=cache or home_folder() / "states",
        about=_about(corpora),
    )
    show_training(run(job), json=json)
    if score_test:
        _score(out, corpora, device=device, cache=job.cache, json=json)


def _about(corpora: list[Corpus]) -> dict[str, object]:
    """What a model folder says about its training data."""
    return {"data": [{"name": each.name, "licence": each.licence, "citation": each.citation} for each in corpora]}


def _warm(name: str | None) -> Path | None:
    """The folder of the model to begin with."""
    from corefine.errors import InputError
    from corefine.models.load import model_folder

    if name is None:
        return None
    folder = model_folder(name)
    if folder is None:
        raise InputError(f"--warm {name}: only a trained model can be trained further")
    return folder


def _say_what_is_english(recipe: Recipe, documents: list[Document]) -> None:
    """Say what a recipe takes from English, if some documents are in another language."""
    from corefine.models.network.encoders.known import known_encoders

    others = sorted({each.language for each in documents if each.language} - {"en"})
    encoder, found = recipe.model.encoder, []
    if any((encoder.path or encoder.kind) in (known.name, known.hub) for known in known_encoders() if known.is_english):
        name = encoder.path or encoder.kind
        found.append(f"the encoder {name} was pretrained on English (`corefine encoders` lists others)")
    if recipe.model.head.surface:
        found.append("letter case is a feature (model.head.surface=false switches it off)")
    if others and found:
        typer.echo(f"there are documents in {', '.join(others)}: {'; '.join(found)}", err=True)


def _divided(corpus: Corpus) -> Corpus:
    """The corpus, with other documents for training if it has no training documents. A message says so."""
    divided = corpus.divided()
    if divided is not corpus:
        train, dev, test = len(divided.train), len(divided.dev), len(divided.test)
        typer.echo(
            f"{corpus.name} has no training documents: its documents are divided by their names"
            f" into {train} for training, {dev} for development and {test} for testing",
            err=True,
        )
    return divided


def _documents(corpora: list[Corpus], dev: Corpus | None) -> tuple[list[Document], list[Document]]:
    """The documents to train on, and the development documents: a tenth of the former if there are no others."""
    train = [document for corpus in corpora for document in corpus.train]
    if dev is not None:
        return train, [*(dev.dev or dev.train or dev.test)]
    development = [document for corpus in corpora for document in corpus.dev]
    if development or len(train) < 2:
        return train, development
    held = max(1, len(train) // 10)
    typer.echo(f"no development documents: the last {held} of {len(train)} are held out", err=True)
    return train[:-held], train[-held:]


def _score(folder: Path, corpora: list[Corpus], *, device: str, cache: Path | None, json: bool) -> None:
    from corefine.models.evaluation import evaluate
    from corefine.models.load import load

    model = load(folder, device=device, cache=cache).model
    for corpus in corpora:
        if not corpus.test:
            continue
        scores = evaluate(model.predict, corpus.test)
        if json:
            show_json({"event": "Tested", "corpus": corpus.name, **scores.as_dict()})
        else:
            typer.echo(f"{corpus.name} test: CoNLL F1 {scores.conll_f1:.2f} (singletons dropped)")
