"""The gated recurrence: its states and gradients against one step after another."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from corefine.models.network.context import scan


def one_by_one(keep: torch.Tensor, gain: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    states = []
    for step in range(len(keep)):
        before = keep[step] * before + gain[step]
        states.append(before)
    return torch.stack(states)


@given(length=st.integers(1, 60), seed=st.integers(0, 1_000), with_before=st.booleans())
def test_the_states_are_those_of_one_step_after_another(length: int, seed: int, with_before: bool) -> None:
    torch.manual_seed(seed)
    keep = torch.rand(length, 3, dtype=torch.double)
    gain = torch.randn(length, 3, dtype=torch.double)
    before = torch.randn(3, dtype=torch.double) if with_before else None
    expected = one_by_one(keep, gain, torch.zeros(3, dtype=torch.double) if before is None else before)
    torch.testing.assert_close(scan(keep, gain, before), expected)


def test_gradients_are_those_of_the_function() -> None:
    torch.manual_seed(0)
    for length in (1, 2, 5, 11):
        keep = torch.rand(length, 2, dtype=torch.double, requires_grad=True)
        gain = torch.randn(length, 2, dtype=torch.double, requires_grad=True)
        before = torch.randn(2, dtype=torch.double, requires_grad=True)
        assert torch.autograd.gradcheck(scan, (keep, gain, before))


def test_closed_gates_forget_and_open_ones_remember_everything() -> None:
    gain = torch.ones(10, 1)
    assert scan(torch.zeros(10, 1), gain).tolist() == [[1.0]] * 10
    assert scan(torch.ones(10, 1), gain).tolist() == [[float(number)] for number in range(1, 11)]
