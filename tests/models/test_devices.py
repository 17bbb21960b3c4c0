from __future__ import annotations

import pytest
import torch

from corefine.document import Document
from corefine.errors import InputError
from corefine.models import devices
from corefine.models.devices import choose_device, mixed_precision
from helpers import tiny


def test_the_environment_may_name_the_device_that_auto_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COREFINE_DEVICE", "cpu:0")
    assert choose_device("auto") == torch.device("cpu:0")
    assert choose_device("cpu") == torch.device("cpu")
    monkeypatch.setenv("COREFINE_DEVICE", "")
    assert choose_device("auto").type in ("cpu", "cuda", "mps")
    monkeypatch.setenv("COREFINE_DEVICE", "abacus")
    with pytest.raises(InputError, match="there is no device 'abacus'"):
        choose_device("auto")


def test_a_gpu_that_is_there_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COREFINE_DEVICE", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto") == choose_device("cuda") == torch.device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="has no cuda: use --device auto or cpu"):
        choose_device("cuda")


@pytest.mark.parametrize(("fast", "enabled"), [(True, True), (True, False), (False, True)])
def test_products_are_in_bfloat16_only_where_that_is_fast(
    fast: bool, enabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corefine.models.devices.bfloat16_is_fast", lambda: fast)
    values = torch.ones(2, 2)
    with mixed_precision(torch.device("cpu"), enabled=enabled):
        assert (values @ values).dtype == (torch.bfloat16 if fast and enabled else torch.float32)


def test_memory_is_given_back_where_the_library_can(monkeypatch: pytest.MonkeyPatch) -> None:
    devices.release_memory()
    given: list[int] = []
    monkeypatch.setattr(devices, "_malloc_trim", lambda: given.append)
    devices.release_memory()
    assert given == [0]
    monkeypatch.setattr(devices, "_malloc_trim", lambda: None)
    devices.release_memory()  # as on other systems


@pytest.mark.parametrize(("tokens", "times"), [(999, 0), (1000, 1)])
def test_long_texts_leave_no_memory_behind(tokens: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[int] = []
    monkeypatch.setattr("corefine.models.network.model.release_memory", lambda: called.append(1))
    tiny.model().predict(Document.from_sentences("d", [["Anna"] * tokens]))
    assert len(called) == times
