"""Which rate and how many epochs the answers of a simulated run call for: cross-validation on answers held back.

    python tools/compare_rates.py OUT/cells/ours-q20-s0 [--mirror FOLDER]

The documents of the run are divided into two halves. A model learns from the answers about one half by the recipe `app`
with another rate and other epochs, and is scored by the probability that it gives to the answers about the other half,
which is all that a project without gold can know. Beside it is F1 on the development documents, which shows whether
that score chooses well. Run it in the folder in which the run was started, if the path of its starter is relative.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer

from corefine.annotation.labels import Labels
from corefine.corpora import load_corpus
from corefine.document import Document
from corefine.files import home_folder
from corefine.models.evaluation import evaluate
from corefine.models.load import load, model_folder
from corefine.models.training.jobs import TrainingJob, run
from corefine.models.training.recipe import load_recipe
from corefine.project.learning.held_back import HeldBackAnswer, fit

RATES = (1e-4, 3e-4, 1e-3)
EPOCHS = (2, 4, 8)


def main(
    folder: Annotated[Path, typer.Argument(help="The folder of a simulated run.")],
    mirror: Annotated[Path | None, typer.Option(help="Folder with corpora.", envvar="COREFINE_MIRROR")] = None,
) -> None:
    settings = settings_of(folder)
    warm = model_folder(settings["starter"])
    if warm is None:
        raise typer.BadParameter(f"{folder} is not a run that begins with a trained model")
    corpus = load_corpus(settings["corpus"], mirror=mirror)
    labels = [each for each in labels_of(folder, corpus.train) if each.said]
    halves = labels[::2], labels[1::2]
    print("rate     epochs  probability of an answer  F1 dev")  # noqa: T201
    for rate in RATES:
        for epochs in EPOCHS:
            found = [_score(learnt, asked, warm, corpus.dev, rate, epochs) for learnt, asked in (halves, halves[::-1])]
            probability, f1 = fmean(each[0] for each in found), fmean(each[1] for each in found)
            print(f"{rate:<8g} {epochs:<7} {probability:<25.3f} {f1:.1f}", flush=True)  # noqa: T201


def settings_of(folder: Path) -> dict[str, Any]:
    """The settings of the simulated run in this folder."""
    file = folder / "config.json"
    if not file.is_file():
        raise typer.BadParameter(f"{folder} is not the folder of a simulated run, such as OUT/cells/ours-q20-s0")
    settings: dict[str, Any] = json.loads(file.read_bytes())["simulation"]
    return settings


def labels_of(folder: Path, documents: Sequence[Document]) -> list[Labels]:
    """The labels of each document after the last round."""
    by_name = {(document.name, document.part): document for document in documents}
    last: dict[Any, Labels] = {}
    for line in (folder / "lessons.jsonl").read_text("utf-8").splitlines():
        fields = json.loads(line)
        key = fields["document"], fields["part"]
        last[key] = Labels.from_json(fields, by_name[key])
    return list(last.values())


def _score(
    learnt: Sequence[Labels], asked: Sequence[Labels], warm: Path, dev: Sequence[Document], rate: float, epochs: int
) -> tuple[float, float]:
    """The probability of an answer about `asked`, and F1, of a model that learnt from the answers about `learnt`."""
    recipe = load_recipe("app")
    recipe = replace(recipe, training=replace(recipe.training, learning_rate=rate, epochs=epochs))
    cache = home_folder() / "states"
    with tempfile.TemporaryDirectory() as scratch:
        job = TrainingJob(
            recipe=recipe, labels=tuple(learnt), folder=Path(scratch) / "model", warm=warm, threads=1, cache=cache
        )
        for _ in run(job):
            pass
        predict = load(job.folder, cache=cache).model.predict
        answers = [answer for number, labels in enumerate(asked) for answer in _answers(number, labels)]
        found, _ = fit(answers, lambda number: predict(asked[number].document))
        return found.probability, evaluate(predict, dev).conll_f1


def _answers(number: int, labels: Labels) -> Iterator[HeldBackAnswer]:
    """What the answers about a document say of each mention."""
    for group in labels.together:
        for at, mention in enumerate(group[1:], start=1):
            yield HeldBackAnswer(number, mention, frozenset(group[:at]), first=False, apart=frozenset())
    for mention in labels.first:
        yield HeldBackAnswer(number, mention, frozenset(), first=True, apart=frozenset())


if __name__ == "__main__":
    typer.run(main)
