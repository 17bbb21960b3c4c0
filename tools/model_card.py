"""The card of a model that ships with corefine, written from the model's own metadata."""

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
        **_ABOUT[trained["name"]],
        name=trained["name"],
        encoder=trained["encoder"],
        data=data,
        rows=rows,
        head=" | ".join(COLUMNS.values()),
        line="|".join(["---"] * (2 + len(COLUMNS))),
        genres=", ".join(f"{genre} {f1:.1f}" for genre, f1 in trained["genres"].items()),
        calibration=_calibration(trained.get("calibration")),
        bias=_bias(trained.get("winobias") or {}),
        stages="; ".join(_stage(stage) for stage in trained["stages"]),
        megabytes=trained["bytes"] / 1e6,
        speed=trained["tokens_per_second"],
    )


def _stage(stage: Mapping[str, Any]) -> str:
    best = 1 + (stage["best_epoch"] or 0)
    return (
        f"{stage['epochs']} epochs of the recipe `{stage['recipe']}` (best: {best}; seed {stage['training']['seed']})"
    )


def _calibration(found: Mapping[str, float] | None) -> str:
    if not found:
        return "not calibrated."
    return (
        f"scores are divided by {found['temperature']:.2f}, and a mention is linked if the probability of no "
        f"antecedent is below {found['threshold']:.2f}; both were chosen on development documents, where the expected "
        f"calibration error is {found['error_after']:.1f} % instead of {found['error_before']:.1f} %."
    )


def _bias(shares: Mapping[str, float]) -> str:
    if not shares:
        return "not measured in this run (WinoBias was not at hand)."
    listed = ", ".join(f"{kind.replace('_', ' ')} {share:.1f} %" for kind, share in shares.items())
    return (
        f"on WinoBias test the annotated pair is found in: {listed}. A gap between *pro* and *anti* means that "
        "occupations and pronouns are linked by stereotype."
    )


_ABOUT = {
    "starter": {"use": "`corefine.load()`", "size": "22", "make": "make starter", "needs": ""},
    "strong": {
        "use": '`corefine.load("strong")`',
        "size": "109",
        "make": "make strong",
        "needs": " The encoder comes with the extra `strong`, or from the hub; it is about five times as slow as the "
        "starter's.",
    },
}

_CARD = """\
# Model card: {name}

A model that ships with corefine ({use}, {megabytes:.1f} MB). Written by `{make}`, which made the model; not to be
edited by hand.

**What it is.** A span ranker (Lee et al. 2017, in the form of docs/model.md) over states of {encoder}
({size} million parameters, Apache-2.0, not part of these weights). English only.{needs}

**What it is for.** It makes the first proposals of an annotation project, which people then correct. It is not meant
for decisions about people.

**Trained on**

{data}

Stages: {stages}.

**Scores** (F1 in percent, singletons dropped on both sides, the weights as they ship)

| corpus | split | {head} |
|{line}|
{rows}

CoNLL F1 on test documents by genre: {genres}.

LitBank's splits are fold 0 of its authors' ten. The OntoGUM documents are the freely licensed subset, so the figures
do not compare with published ones.

**Calibration**: {calibration}

**Speed**: {speed:,.0f} tokens in a second of one core's time, encoding included, on the machine that made the model.

**Bias**: {bias}

**Limits.** It has seen novels, mostly of the nineteenth century, and short texts of nine genres. In other texts it
finds few mentions: an earlier version found one in five in biomedical articles. It does not propose mentions wider
than its `max_span_width`, discontinuous ones or zero pronouns; entities of one mention are not reported.

**Licence.** The weights are under the project's licence, Apache-2.0. The annotations they were trained on are
CC BY 4.0; the texts are in the public domain, CC BY or CC BY-SA, by document.
"""
