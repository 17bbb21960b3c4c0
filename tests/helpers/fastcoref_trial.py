"""fastcoref's own model through corefine's adapter, in an environment that has fastcoref.

    PYTHONPATH=src:tests python tests/helpers/fastcoref_trial.py DOCUMENTS.jsonl

The model has fastcoref's architecture, small and with random weights. Writes a line of JSON for each document.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

import corefine
from corefine.document import Document
from corefine.models.adapters import fastcoref
from corefine.models.resolver import Resolver

SIDE = Path(__file__).parents[2] / "benchmarks" / "fastcoref_side.py"


def random_model(documents: list[Document], seed: int = 0) -> Any:
    """fastcoref's model for these documents, in which about half of the top spans have an antecedent."""
    spec = spec_from_file_location("fastcoref_side", SIDE)
    assert spec is not None
    assert spec.loader is not None
    side: Any = module_from_spec(spec)
    spec.loader.exec_module(side)
    side.LAYERS, side.HIDDEN = 2, 48
    import_module("torch").manual_seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        # every word occurs twice, so that the tokenizer learns it as one piece: no two top spans have the same words
        side.build(Path(folder), 2 * [list(document.tokens) for document in documents])
        model = import_module("fastcoref").FCoref(folder, device="cpu", nlp=None, enable_progress_bar=False)
    scores = model.predict([list(documents[0].tokens)], is_split_into_words=True)[0].coref_logit
    likeliest = np.where(np.tri(len(scores), k=-1) > 0, scores[:, :-1], -np.inf).max(axis=1)
    # the scores of both mentions are added to that of a pair
    model.model.mention_start_classifier.bias.data -= float(np.median(likeliest)) / 2
    return model


def expected(own: Any) -> tuple[list[list[list[int]]], dict[str, float]]:
    """From fastcoref's scores, without special pieces: entities, and the probability of each best antecedent."""
    place = {row: (words[0], words[1] - 1) for row, words in own.char_map.values() if row is not None}
    entity = {span: {span} for span in place.values()}
    probability = {}
    for row, span in sorted(place.items()):
        row_weights = np.exp(own.coref_logit[row].astype(np.float64) - own.coref_logit[row].max())
        weights = {other: float(row_weights[column]) for column, other in place.items()}
        nothing = float(row_weights[-1])
        best = max(weights, key=weights.__getitem__)
        probability[f"{span} {best}"] = weights[best] / (sum(weights.values()) + nothing)
        if weights[best] > nothing:
            joined = entity[span] | entity[best]
            entity.update(dict.fromkeys(joined, joined))
    entities = {frozenset(group) for group in entity.values() if len(group) > 1}
    return [[list(span) for span in sorted(group)] for group in entities], probability


def main(path: str) -> None:
    logging.disable(logging.CRITICAL)
    documents = list(corefine.read(path))
    model = random_model(documents)
    resolver = Resolver(fastcoref(model))
    for document in documents:
        result = resolver.predict(document)
        own = model.predict([list(document.tokens)], is_split_into_words=True)[0]
        entities, probabilities = expected(own)
        listed = own.get_clusters(as_strings=False)
        special = any(words is None for cluster in listed for words in cluster)
        theirs = None if special else [[[start, end - 1] for start, end in cluster] for cluster in listed]
        found = {}
        for row, span in enumerate(result.prediction.spans[1:], start=1):
            masses = result.prediction.probabilities[row, 1:]
            best = result.prediction.spans[result.prediction.candidates[row, int(masses.argmax())]]
            found[f"{tuple(span)} {tuple(best)}"] = float(masses.max())
        ours = [[list(span) for span in cluster] for cluster in result.clusters]
        told = {"theirs": theirs, "expected": entities, "ours": ours, "probabilities": probabilities, "found": found}
        print(json.dumps(told))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
