"""What the networks of mentions and of pairs share: blocks of rows, and hidden layers whose gradients are written out.

For all spans or pairs of a document at once, a layer would be an array of a hundred thousand rows and more, and most of
the time would go into moving it through memory. A block of them fits the processor's cache. The layers of a short text
are kept for the backward pass; those of a long one are computed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

BLOCK = {"cpu": 400_000, "cuda": 64_000_000, "mps": 16_000_000}
"""How many numbers the largest array of a block may have, by device."""

MOST_KEPT = 10_000_000
"""How many numbers a network may keep for its backward pass; if there are more, it computes them again."""


def rows_in_blocks(size: int, cost: int, device: torch.device) -> Iterator[slice]:
    """`size` rows in blocks; `cost` is how many numbers a row needs."""
    step = max(1, BLOCK.get(device.type, BLOCK["cpu"]) // max(cost, 1))
    return (slice(start, min(start + step, size)) for start in range(0, size, step))


def product_type(values: Tensor) -> torch.dtype:
    """The type in which such values are multiplied as matrices: another than their own in mixed precision."""
    device = values.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else values.dtype


def further_layers(
    first: Tensor, masks: Sequence[Tensor], deeper: Sequence[Tensor], products: torch.dtype
) -> list[Tensor]:
    """The first hidden layer and those after it. All but the last are in the type of products.

    Shape: first and all others [A, B, hidden]; masks: one for each layer, to multiply it with, or none at all; deeper:
    weight [hidden, hidden] and bias [hidden] of each further layer.
    """
    layers = [first]
    for depth in range(1, len(deeper) // 2 + 1):
        weight, bias = deeper[2 * depth - 2 : 2 * depth]
        layers[-1] = layers[-1].to(products)
        layer = torch.addmm(bias.to(products), layers[-1].flatten(0, 1), weight.t().to(products))
        layer = layer.to(first.dtype).relu_().view_as(first)
        if masks:
            layer *= masks[depth]
        layers.append(layer)
    return layers


def back_through_layers(
    d_scores: Tensor,
    readout: Tensor,
    layers: Sequence[Tensor],
    masks: Tensor | None,
    deeper: Sequence[Tensor],
    d_deeper: Sequence[Tensor],
    products: torch.dtype,
) -> Tensor:
    """The gradient of the sum that the first layer's relu was applied to. Those of `deeper` are added to `d_deeper`.

    It is in the type of products if there are further layers.

    Shape: d_scores [A, B], the gradient of layers[-1] @ readout; masks: all that `further_layers` had, in any shape.
    """
    # A mask is 0 or one other number. Where relu or the mask gave 0, the gradient is 0, so only that number is needed.
    factor = 1.0 if masks is None else masks.amax()
    d_layer = _where_positive(d_scores[:, :, None] * (readout * factor), layers[-1])
    for depth in reversed(range(1, len(layers))):
        weight = (deeper[2 * depth - 2] * factor).to(products)
        flat = d_layer.flatten(0, 1)
        d_deeper[2 * depth - 1].add_(flat.sum(0, dtype=d_scores.dtype))
        flat = flat.to(products)
        d_deeper[2 * depth - 2].add_(flat.t() @ layers[depth - 1].flatten(0, 1))
        d_layer = _where_positive((flat @ weight).view_as(d_layer), layers[depth - 1])
    return d_layer


def _where_positive(gradient: Tensor, layer: Tensor) -> Tensor:
    """The gradient, set to 0 in place where the layer is not above 0."""
    cut: Tensor = torch.ops.aten.threshold_backward.grad_input(gradient, layer, 0, grad_input=gradient)
    return cut
