"""Attention as two batched products, a few heads at a time, for prediction in bfloat16 on a CPU.

torch's own attention computes in small tiles there. Whole products of a few heads, whose weights fit into the
processor's cache, take four fifths of its time with heads of 32 numbers, and three fifths with heads of 64. Everything
else goes to torch's attention: training, masks, position biases, other devices and types of numbers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

NAME = "corefine_products"
"""The name that transformers knows it by."""

MOST_WEIGHTS = 1 << 20
"""Attention weights that are computed at once: 2 MB."""


def use_products(network: Any) -> bool:
    """Let a network use it where it uses torch's attention. Returns whether it does.

    Older versions of transformers have no place for it, and some networks have attention of their own. A network that
    used it in another process has to be given it again.
    """
    if getattr(network.config, "_attn_implementation", None) not in ("sdpa", NAME):
        return False
    try:
        from transformers import AttentionInterface
        from transformers.integrations.sdpa_attention import sdpa_attention_forward
        from transformers.masking_utils import AttentionMaskInterface, sdpa_mask
    except ImportError:
        return False

    def attention(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **others: Any) -> Any:
        if mask is not None or others.get("position_bias") is not None or not _fits(module, query, key):
            return sdpa_attention_forward(module, query, key, value, mask, **others)
        scaling = others.get("scaling")
        return products(query, key, value, query.shape[-1] ** -0.5 if scaling is None else scaling), None

    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    network.set_attn_implementation(NAME)
    return True


def products(query: Tensor, key: Tensor, value: Tensor, scaling: float) -> Tensor:
    """[B, heads, T, D] each -> [B, T, heads, D]."""
    batch, heads, size, width = query.shape
    found = query.new_empty(batch, size, heads, width)
    step = max(1, MOST_WEIGHTS // max(1, size * size))
    for text in range(batch):
        for begin in range(0, heads, step):
            some = slice(begin, begin + step)
            weights = torch.bmm(query[text, some] * scaling, key[text, some].transpose(1, 2)).softmax(2)
            found[text, :, some] = torch.bmm(weights, value[text, some]).transpose(0, 1)
    return found


def _fits(module: Any, query: Tensor, key: Tensor) -> bool:
    """Whether the products are faster here and do the same."""
    usual = query.device.type == "cpu" and query.dtype is torch.bfloat16 and query.shape == key.shape
    learns = torch.is_grad_enabled() and query.requires_grad
    return usual and not learns and not getattr(module, "is_causal", False)
