"""Committees: the same spans and candidates for all, the mean as the prediction, the members' rows as votes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from corefine.document import Document
from corefine.errors import ModelError
from corefine.models.committee import Committee, agreed_candidates, load_committee, save_committee
from corefine.models.network.config import ModelConfig
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import save_model
from corefine.prediction import NONE
from helpers import tiny

DOCUMENT = tiny.document(1, sentences=12)
COARSE = replace(tiny.CONFIG, head=replace(tiny.CONFIG.head, coarse_to_fine=True, candidates=4))
FROZEN = replace(tiny.CONFIG, encoder=replace(tiny.CONFIG.encoder, fine_tune=False))


def committee(config: ModelConfig = tiny.CONFIG, size: int = 3) -> Committee:
    return Committee([tiny.model(seed, config) for seed in range(size)])


@pytest.mark.parametrize("config", [tiny.CONFIG, COARSE], ids=["nearest", "coarse"])
def test_the_prediction_is_the_mean_of_the_members(config: ModelConfig) -> None:
    prediction = committee(config).predict(DOCUMENT)
    assert prediction.members is not None
    assert prediction.members.shape == (3, *prediction.probabilities.shape)
    assert np.allclose(prediction.members.mean(0), prediction.probabilities)
    assert not np.allclose(prediction.members[0], prediction.members[1])


@pytest.mark.parametrize("config", [tiny.CONFIG, COARSE], ids=["nearest", "coarse"])
def test_a_committee_of_equals_is_the_model_itself(config: ModelConfig) -> None:
    single = tiny.model(5, config)
    alone, together = single.predict(DOCUMENT), Committee([single, single]).predict(DOCUMENT)
    assert alone.spans == together.spans
    assert np.array_equal(alone.candidates, together.candidates)
    assert np.allclose(alone.probabilities, together.probabilities, atol=1e-6)


def test_spans_are_kept_by_the_mean_score() -> None:
    members = [tiny.model(seed) for seed in range(3)]
    with torch.inference_mode():
        for member in members:
            member.train(False)
        scores = [member.ranker.mentions(member.inputs(DOCUMENT)).scores for member in members]
    mean = torch.stack(scores).mean(0)
    keep = int(tiny.CONFIG.head.spans_per_word * len(DOCUMENT))
    best = {(int(i) // 3, int(i) // 3 + int(i) % 3) for i in mean.flatten().topk(keep).indices}
    assert {tuple(span) for span in Committee(members).predict(DOCUMENT).spans} == best


def test_a_shared_encoder_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = tiny.model(0, FROZEN)
    members = [first, *(Model.create(FROZEN, seed=seed, encoder=first.encoder) for seed in (1, 2))]
    calls: list[Document] = []
    real = first.encoder.encode
    monkeypatch.setattr(first.encoder, "encode", lambda document: calls.append(document) or real(document))
    Committee(members).predict(DOCUMENT)
    assert calls == [DOCUMENT]


def test_a_saved_committee_predicts_the_same_and_shares_its_encoder(tmp_path: Path) -> None:
    made = committee(FROZEN)
    for number, member in enumerate(made.members):
        save_model(tmp_path / f"member-{number}", member)
    save_committee(tmp_path, [f"member-{number}" for number in range(3)])
    loaded = load_committee(tmp_path)
    assert all(member.encoder is loaded.members[0].encoder for member in loaded.members)
    assert np.allclose(loaded.predict(DOCUMENT).probabilities, made.predict(DOCUMENT).probabilities)


def test_a_member_that_is_gone_is_named(tmp_path: Path) -> None:
    save_model(tmp_path / "member-0", tiny.model())
    save_committee(tmp_path, ["member-0", "member-1"])
    with pytest.raises(ModelError, match="member-1 is not there"):
        load_committee(tmp_path)


@pytest.mark.parametrize("members", [[], "member-0"])
def test_a_committee_of_nobody_is_refused(tmp_path: Path, members: object) -> None:
    save_committee(tmp_path, members)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"names no members|is not there"):
        load_committee(tmp_path)
    with pytest.raises(ModelError, match="at least one member"):
        Committee([])


def test_members_must_see_the_same_spans() -> None:
    wider = replace(tiny.CONFIG, head=replace(tiny.CONFIG.head, max_span_width=5))
    with pytest.raises(ModelError, match="max_span_width"):
        Committee([tiny.model(), tiny.model(config=wider)])


LISTS = st.integers(1, 6).flatmap(
    lambda size: st.lists(
        st.lists(st.permutations(range(8)).map(lambda p: p[:4]), min_size=size, max_size=size), min_size=1, max_size=4
    )
)


@given(LISTS, st.data())
def test_agreed_candidates_take_the_best_of_each_in_turn(lists: list[list[list[int]]], data: st.DataObject) -> None:
    """The same as the plain loop, padding included."""
    for member in lists:
        for row in member:
            padding = data.draw(st.integers(0, 4))
            row[4 - padding :] = [NONE] * padding
    agreed = agreed_candidates([torch.tensor(member) for member in lists]).tolist()
    for row, found in enumerate(agreed):
        turns = [member[row][rank] for rank in range(4) for member in lists]
        expected = list(dict.fromkeys(candidate for candidate in turns if candidate != NONE))[:4]
        assert [candidate for candidate in found if candidate != NONE] == expected
