"""A training run in a process of its own, for tests that kill it: `python -m helpers.killed_run FOLDER`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from corefine.annotation.labels import Labels
from corefine.models.devices import use_threads
from corefine.models.training.events import Started, Step, Stopped
from corefine.models.training.trainer import train
from helpers import tiny

CONFIG = replace(tiny.TRAINING, epochs=6, documents_per_step=1, save_every=1, ema=0.9)


def main(folder: Path) -> None:
    use_threads(1)
    labels, dev = list(map(Labels, tiny.documents(8))), tiny.documents(2, first=100)
    for event in train(tiny.model(), labels, CONFIG, dev=dev, folder=folder, resume=True):
        if isinstance(event, Started | Step | Stopped):
            sys.stdout.write(f"{type(event).__name__} {getattr(event, 'step', '')}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
