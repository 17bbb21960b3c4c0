"""Makes the models that ship with corefine: trains and scores them, puts them into the package, and writes model cards.

    python tools/make_starter.py [--name strong] --mirror FOLDER
    python tools/make_starter.py --seed 2 --work WORK --goal FOLDER --card FILE   # another seed, outside the package

The data come from `corefine data get` or a mirror; the settings are the recipes of `STAGES`, each of which begins with
the model of the one before. A run that was interrupted goes on where it was. The card's figures are written by the run
that made the model, never by hand.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from corefine.annotation.labels import Labels
from corefine.corpora import Corpus, load_corpus
from corefine.document import Document
from corefine.errors import CorefineError, InputError, ModelError
from corefine.files import home_folder, write_atomically
from corefine.models.devices import use_threads
from corefine.models.evaluation import evaluate, linked_share, summary
from corefine.models.load import SHIPPED
from corefine.models.storage.checkpoint import MODEL, load_model, save_model
from corefine.models.storage.tensors import read_facts
from corefine.models.training.events import Encoding, Evaluated
from corefine.models.training.jobs import TrainingJob, run
from corefine.models.training.recipe import load_recipe
from model_card import model_card

STAGES = {"starter": ("starter", "tuned"), "strong": ("strong", "strong-tuned")}
"""The recipes of each model, in order."""

CARDS = {"starter": "docs/model-card.md", "strong": "docs/model-card-strong.md"}
CORPORA = ("litbank", "ontogum")
TIMED = 3
"""The speed is measured on this many documents."""
LARGEST_BYTES = 12_000_000
"""What the shipped model may weigh."""


def make(
    name: str, *, mirror: Path | None, work: Path, goal: Path | None = None, card: Path | None = None, seed: int = 1
) -> dict[str, Any]:
    """Train in `work`, put the model in `goal`, describe it in `card`. Returns what the model says of itself."""
    corpora = [load_corpus(each, mirror=mirror) for each in CORPORA]
    goal = goal or SHIPPED[name]
    cache = home_folder() / "states"
    folder: Path | None = None
    stages = []
    for recipe in STAGES[name]:
        folder, warm = work / recipe, folder
        stages.append(_train(recipe, seed, corpora, folder, warm, cache))
    if folder is None:
        raise ModelError(f"{name} has no recipe")
    model = load_model(folder, cache=cache)
    trained = {
        "name": name,
        "encoder": model.encoder.name,
        "data": [_describe(corpus) for corpus in corpora],
        "documents": sum(len(corpus.train) for corpus in corpora),
        "stages": stages,
        "calibration": read_facts(folder, MODEL)["trained"].get("calibration"),
    }
    with tempfile.TemporaryDirectory() as packed_folder:
        save_model(Path(packed_folder), model, trained, half=True)
        size = _size(Path(packed_folder))
    if size > LARGEST_BYTES:
        raise ModelError(f"the model would weigh {size} bytes, more than {LARGEST_BYTES}; nothing was packed")
    save_model(goal, model, trained | {"bytes": size}, half=True)
    packed = load_model(goal, cache=cache)
    trained["scores"] = _scores(packed.predict, corpora)  # of the very weights that ship, in half precision
    trained["genres"] = _by_genre(packed.predict, corpora)
    trained["winobias"] = _bias(packed.predict, mirror)
    trained["tokens_per_second"] = _speed(goal, corpora[0].test)
    save_model(goal, packed, trained | {"bytes": size}, half=True)
    if card is not None:
        write_atomically(card, model_card(trained | {"bytes": size}).encode())
    return trained


def _train(
    recipe_name: str, seed: int, corpora: Sequence[Corpus], folder: Path, warm: Path | None, cache: Path
) -> dict[str, Any]:
    """Train one stage, or go on with it. Returns facts about it."""
    recipe = load_recipe(recipe_name)
    recipe = replace(recipe, training=replace(recipe.training, seed=seed))
    job = TrainingJob(
        recipe=recipe,
        labels=[Labels(document) for corpus in corpora for document in corpus.train],
        dev=[document for corpus in corpora for document in corpus.dev],
        folder=folder,
        warm=warm,
        resume=True,
        cache=cache,
        threads=use_threads(),
    )
    if not job.done:
        for found in run(job):
            if isinstance(found.event, Encoding | Evaluated):
                sys.stderr.write(f"{found.event}\n")
    trained = read_facts(folder, MODEL)["trained"]
    return {"recipe": recipe_name, **{name: trained[name] for name in ("epochs", "best_epoch", "training")}}


def _describe(corpus: Corpus) -> dict[str, Any]:
    return {
        "name": corpus.name,
        "licence": corpus.licence,
        "citation": corpus.citation,
        "documents": len(corpus.train),
        "tokens": sum(map(len, corpus.train)),
    }


def _scores(predict: Any, corpora: Sequence[Corpus]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        corpus.name: {split: summary(evaluate(predict, corpus.split(split))) for split in ("dev", "test")}
        for corpus in corpora
    }


def _by_genre(predict: Any, corpora: Sequence[Corpus]) -> dict[str, float]:
    """CoNLL F1 on the test documents of each genre."""
    tests = [document for corpus in corpora for document in corpus.test]
    genres = sorted({document.genre or "unknown" for document in tests})
    return {
        genre: evaluate(predict, [each for each in tests if (each.genre or "unknown") == genre]).conll_f1
        for genre in genres
    }


def _bias(predict: Any, mirror: Path | None) -> dict[str, float]:
    """Accuracy on WinoBias, on sentences that follow a stereotype and on those against it; {} if it is not here."""
    try:
        documents = load_corpus("winobias", mirror=mirror).test
    except InputError:
        return {}
    kinds = sorted({document.genre or "" for document in documents})
    return {
        kind: linked_share(predict, [document for document in documents if document.genre == kind]) for kind in kinds
    }


def _speed(folder: Path, documents: Sequence[Document]) -> float:
    """Tokens in a second of one core's time, encoding included."""
    model = load_model(folder)
    model.predict(documents[0])  # the first call prepares the encoder
    begin = time.process_time()
    for document in documents[:TIMED]:
        model.predict(document)
    return sum(map(len, documents[:TIMED])) / (time.process_time() - begin)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mirror", type=Path, help="folder with corpora as NAME/NAME.jsonl.gz")
    parser.add_argument("--name", choices=sorted(STAGES), default="starter")
    parser.add_argument("--seed", type=int, default=1, help="of first weights, order and dropout (default: 1)")
    parser.add_argument("--work", type=Path, help="folder of the run")
    parser.add_argument("--goal", type=Path, help="where the model goes; into the package if not given")
    parser.add_argument("--card", type=Path, help="where its card goes; into docs if not given")
    given = parser.parse_args()
    work, card = given.work or home_folder() / f"{given.name}-run", given.card or Path(CARDS[given.name])
    try:
        made = make(given.name, mirror=given.mirror, work=work, goal=given.goal, card=card, seed=given.seed)
    except CorefineError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for name, splits in made["scores"].items():
        sys.stdout.write(f"{name}: dev {splits['dev']['conll_f1']:.2f}, test {splits['test']['conll_f1']:.2f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
