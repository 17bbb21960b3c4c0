"""What the threshold of a simulated run's last model is worth: its own, the one that answers suggest, and the best one.

    python tools/compare_thresholds.py OUT/cells/discrete-q80-s0 OUT/cells/ours-q20-s0 [--mirror FOLDER]

The threshold that answers suggest is that of `link_as_expected`, whatever labels the run was trained on. The best one
is chosen on the development documents, which nobody has in a new field. F1 is the mean of development and test
documents.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer

from compare_rates import labels_of, settings_of
from corefine.corpora import load_corpus
from corefine.files import home_folder
from corefine.models.calibration import link_as_expected, link_as_labelled, set_calibration
from corefine.models.evaluation import evaluate
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import load_model


def main(
    folders: Annotated[list[Path], typer.Argument(help="The folders of simulated runs.")],
    mirror: Annotated[Path | None, typer.Option(help="Folder with corpora.", envvar="COREFINE_MIRROR")] = None,
) -> None:
    print("run                        its own    F1    by answers F1    best       F1")  # noqa: T201
    for folder in folders:
        settings = settings_of(folder)
        corpus = load_corpus(settings["corpus"], mirror=mirror).divided()
        model = _last_model(folder)
        temperature, own = model.config.head.temperature, model.config.head.threshold
        labels = [each for each in labels_of(folder, corpus.train) if each.said]
        cells = []
        for threshold in (own, link_as_expected(model, labels), link_as_labelled(model, corpus.dev)):
            set_calibration(model, temperature, threshold)
            f1 = fmean(evaluate(model.predict, held).conll_f1 for held in (corpus.dev, corpus.test) if held)
            cells.append(f"{threshold:<10.3f} {f1:<5.1f}")
        print(f"{folder.name:<26} {' '.join(cells)}", flush=True)  # noqa: T201


def _last_model(folder: Path) -> Model:
    rounds = sorted((folder / "checkpoints").glob("round-*"))
    if not rounds:
        raise typer.BadParameter(f"{folder} holds no model of a simulated run")
    return load_model(rounds[-1] / "member-0", cache=home_folder() / "states")


if __name__ == "__main__":
    typer.run(main)
