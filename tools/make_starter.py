"""The starter model: trained, scored, packed into the package, and described in its model card.

    python tools/make_starter.py --mirror FOLDER

The data come from `corefine data get` or a mirror; the settings are the recipe `starter`. A run that was interrupted
goes on where it was. The card's figures are written by the run that made the model, never by hand.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corefine.annotation.labels import Labels
from corefine.corpora import Corpus, load_corpus
from corefine.errors import CorefineError, InputError, ModelError
from corefine.files import home_folder, write_atomically
from corefine.models.devices import use_threads
from corefine.models.evaluation import evaluate, linked_share, summary
from corefine.models.load import SHIPPED
from corefine.models.storage.checkpoint import load_model, save_model
from corefine.models.training.events import Encoding, Evaluated, Stopped
from corefine.models.training.jobs import TrainingJob, run
from corefine.models.training.recipe import load_recipe
from model_card import model_card

STARTER = SHIPPED["starter"]
CORPORA = ("litbank", "ontogum")
LARGEST_BYTES = 12_000_000
"""What the shipped model may weigh."""


def make(*, mirror: Path | None, work: Path, goal: Path = STARTER, card: Path | None = None) -> dict[str, Any]:
    """Train in `work`, put the model in `goal`, describe it in `card`. Returns what the model says of itself."""
    corpora = [load_corpus(name, mirror=mirror) for name in CORPORA]
    recipe = load_recipe("starter")
    cache = home_folder() / "states"
    threads = use_threads()
    job = TrainingJob(
        recipe=recipe,
        labels=[Labels(document) for corpus in corpora for document in corpus.train],
        dev=[document for corpus in corpora for document in corpus.dev],
        folder=work,
        resume=True,
        cache=cache,
        threads=threads,
    )
    stopped: Stopped | None = None
    for found in run(job):
        if isinstance(found.event, Encoding | Evaluated):
            sys.stderr.write(f"{found.event}\n")
        elif isinstance(found.event, Stopped):
            stopped = found.event
    if stopped is None:
        raise ModelError("the run ended without a model")
    model = load_model(work, cache=cache)
    trained = {
        "data": [_describe(corpus) for corpus in corpora],
        "documents": len(job.labels),
        "epochs": stopped.epochs,
        "best_epoch": stopped.best_epoch,
        "recipe": recipe.training.to_dict(),
    }
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder), model, trained, half=True)
        size = _size(Path(folder))
    if size > LARGEST_BYTES:
        raise ModelError(f"the starter model would weigh {size} bytes, more than {LARGEST_BYTES}; nothing was packed")
    save_model(goal, model, trained | {"bytes": size}, half=True)
    packed = load_model(goal, cache=cache)
    trained["scores"] = _scores(packed.predict, corpora)  # of the very weights that ship, in half precision
    trained["winobias"] = _bias(packed.predict, mirror)
    save_model(goal, packed, trained | {"bytes": size}, half=True)
    if card is not None:
        write_atomically(card, model_card(trained | {"bytes": size}).encode())
    return trained


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


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mirror", type=Path, help="folder with corpora as NAME/NAME.jsonl.gz")
    parser.add_argument("--work", type=Path, default=home_folder() / "starter-run", help="folder of the run")
    parser.add_argument("--goal", type=Path, default=STARTER, help="where the model goes")
    parser.add_argument("--card", type=Path, default=Path("docs/model-card.md"))
    arguments = parser.parse_args()
    try:
        made = make(mirror=arguments.mirror, work=arguments.work, goal=arguments.goal, card=arguments.card)
    except CorefineError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for name, splits in made["scores"].items():
        sys.stdout.write(f"{name}: dev {splits['dev']['conll_f1']:.2f}, test {splits['test']['conll_f1']:.2f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
