"""A committee: models with different seeds that score the same spans and candidates.

The top spans are those with the best mean mention score; each member then scores them against the same candidates.
The mean of the members' rows is the prediction; their own rows are their votes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from corefine import __version__
from corefine.document import Document
from corefine.errors import ModelError
from corefine.files import write_atomically
from corefine.models.network.model import Model
from corefine.models.network.ranker import Ranking
from corefine.models.storage.checkpoint import is_model, load_model
from corefine.models.storage.tensors import FORMAT, exists, read_facts
from corefine.prediction import NONE, Prediction

COMMITTEE = "committee"


class Committee:
    """Several models as one. Members that share a frozen encoder also share its states."""

    def __init__(self, members: Sequence[Model]) -> None:
        if not members:
            raise ModelError("a committee has at least one member")
        if any(member.config.head.max_span_width != members[0].config.head.max_span_width for member in members):
            raise ModelError("the members of a committee must have the same max_span_width, to score the same spans")
        self.members = tuple(members)
        self._shared = all(member.encoder is members[0].encoder for member in members)

    def __len__(self) -> int:
        return len(self.members)

    def predict(self, document: Document) -> Prediction:
        """The mean of the members' probabilities, and those of each member."""
        for member in self.members:
            member.train(False)
        with torch.inference_mode():
            rankings = self._rank(document)
            rows = torch.stack([ranking.probabilities() for ranking in rankings])  # [M, N, 1 + K]
            scores = torch.stack([ranking.mention_scores.cpu().double() for ranking in rankings]).mean(0)
        return Prediction(
            spans=rankings[0].top.spans,
            candidates=rankings[0].candidates.cpu().numpy(),
            probabilities=np.asarray(rows.mean(0)),
            members=np.asarray(rows),
            mention_scores=np.asarray(scores),
            decoding=self.members[0].config.head.decoding,
            threshold=float(np.mean([member.config.head.threshold for member in self.members])),
        )

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        for member in self.members:
            member.to(device)
        return self

    def _rank(self, document: Document) -> list[Ranking]:
        first = self.members[0]
        if self._shared:
            features = [first.features(document)] * len(self)
            mentions = first.mentions(document, features[0], *(member.ranker for member in self.members[1:]))
        else:
            features = [member.features(document) for member in self.members]
            read = zip(self.members, features, strict=True)
            mentions = [scores for member, own in read for scores in member.mentions(document, own)]
        top = first.ranker.prune(mentions)
        candidates = agreed_candidates(
            [member.ranker.candidates(own, top) for member, own in zip(self.members, mentions, strict=True)]
        )
        return [
            member.ranker.pairs(own, scored, top, candidates)
            for member, own, scored in zip(self.members, features, mentions, strict=True)
        ]


def agreed_candidates(lists: Sequence[Tensor]) -> Tensor:
    """[N, K] K candidates for each span from those of all members: the best of each in turn, without repeats."""
    first = lists[0]
    if all(torch.equal(first, other) for other in lists[1:]):
        return first
    turns = torch.stack(list(lists), dim=2).flatten(1)  # [N, K * M], best first
    ordered, order = turns.sort(dim=1, stable=True)
    again = torch.zeros_like(turns, dtype=torch.bool)
    again.scatter_(1, order[:, 1:], ordered[:, 1:] == ordered[:, :-1])
    kept = ~again & (turns != NONE)
    place = (
        (kept.cumsum(1) - 1).masked_fill(~kept, first.shape[1]).clamp(max=first.shape[1])
    )  # the last column is dropped
    agreed = first.new_full((len(first), first.shape[1] + 1), NONE)
    return agreed.scatter_(1, place, turns)[:, :-1]  # the last column took what was left over


def member_count(folder: Path | None) -> int:
    """How many members the model in a folder has: 1 if it is no committee, or if there is no folder."""
    return max(1, len(committee_members(folder))) if folder is not None else 1


def save_committee(folder: Path, members: Sequence[str], trained: dict[str, Any] | None = None) -> None:
    """Make these model folders within `folder` a committee."""
    facts = {"format": FORMAT, "corefine": __version__, "kind": COMMITTEE, "members": list(members)}
    content = json.dumps(facts | {"trained": trained or {}}, indent=1).encode()
    write_atomically(folder / f"{COMMITTEE}.json", content)


def committee_members(folder: Path) -> list[Path]:
    """The folders of a committee's members; empty if the folder does not hold a committee."""
    if not is_committee(folder):
        return []
    names = read_facts(folder, COMMITTEE).get("members")
    return [folder / Path(str(name)).name for name in names] if isinstance(names, list) else []


def is_committee(folder: Path) -> bool:
    """Whether the folder holds a committee."""
    return exists(folder, COMMITTEE)


def load_committee(folder: Path, *, cache: Path | None = None) -> Committee:
    """The committee of a folder. Members with the same frozen encoder share it."""
    names = read_facts(folder, COMMITTEE).get("members")
    if not isinstance(names, list) or not names:
        raise ModelError(f"{folder / COMMITTEE}.json names no members")
    members: list[Model] = []
    for name in names:
        path = folder / Path(str(name)).name
        if not is_model(path):
            raise ModelError(f"{folder} is a committee of {', '.join(map(str, names))}, but {name} is not there")
        members.append(load_model(path, share=members[0] if members else None, cache=cache))
    return Committee(members)
