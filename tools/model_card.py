"""The model card of the starter model, written from what the model says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COLUMNS = {
    "conll_f1": "CoNLL F1",
    "muc_f1": "MUC",
    "b3_f1": "B3",
    "ceafe_f1": "CEAFe",
    "lea_f1": "LEA",
    "mention_f1": "mentions",
}


def model_card(trained: Mapping[str, Any]) -> str:
    """The card, in Markdown."""
    rows = "\n".join(
        f"| {name} | {split} | " + " | ".join(f"{scores[key]:.1f}" for key in COLUMNS) + " |"
        for name, splits in trained["scores"].items()
        for split, scores in splits.items()
    )
    data = "\n".join(
        f"- **{each['name']}**, train split: {each['documents']} documents, {each['tokens']:,} tokens. "
        f"Licence: {each['licence']}. Cite: {each['citation']}"
        for each in trained["data"]
    )
    return _CARD.format(
        data=data,
        rows=rows,
        head=" | ".join(COLUMNS.values()),
        line="|".join(["---"] * (2 + len(COLUMNS))),
        bias=_bias(trained.get("winobias") or {}),
        epochs=trained["epochs"],
        best=1 + (trained["best_epoch"] or 0),
        seed=trained["recipe"]["seed"],
        megabytes=trained["bytes"] / 1e6,
    )


def _bias(shares: Mapping[str, float]) -> str:
    if not shares:
        return "not measured in this run (WinoBias was not at hand)."
    listed = ", ".join(f"{kind.replace('_', ' ')} {share:.1f} %" for kind, share in shares.items())
    return (
        f"on WinoBias test the annotated pair is found in: {listed}. A gap between *pro* and *anti* means that "
        "occupations and pronouns are linked by stereotype."
    )


_CARD = """\
# Model card: starter

The model that ships with corefine (`corefine.load()`, {megabytes:.1f} MB). Written by `make starter`, which made the
model; not to be edited by hand.

**What it is.** A span ranker (Lee et al. 2017, in the form of docs/model.md) over states of all-MiniLM-L6-v2
(22 million parameters, Apache-2.0, not part of these weights). English only.

**What it is for.** A first proposal that people correct: it begins an annotation project before there is any data of
one's own. It is not for decisions about people.

**Trained on**

{data}

{epochs} epochs were run, the best by development F1 was number {best}; seed {seed}; settings in
`src/corefine/models/training/recipes/starter.toml`.

**Scores** (F1 in percent, singletons dropped on both sides, the weights as they ship)

| corpus | split | {head} |
|{line}|
{rows}

LitBank's splits are fold 0 of its authors' ten. The OntoGUM documents are the freely licensed subset, so the figures
do not compare with published ones.

**Bias**: {bias}

**Limits.** It has seen novels, mostly of the nineteenth century, and short texts of nine genres. It does not propose
mentions wider than its `max_span_width`, discontinuous ones or zero pronouns; entities of one mention are not
reported.

**Licence.** The weights are under the project's licence, Apache-2.0. The annotations they were trained on are
CC BY 4.0; the texts are in the public domain, CC BY or CC BY-SA, by document.
"""
