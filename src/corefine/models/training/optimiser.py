"""AdamW with warm-up and decay, and a running mean of weights. Their state is plain tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from corefine.errors import ModelError
from corefine.models.network.model import Model
from corefine.models.training.recipe import TrainingConfig

NO_BETTER = 1e-4
"""Relative gains of F1 up to this do not count, as in torch."""

_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


@dataclass(slots=True)
class Plateau:
    """Lowers the rate when development F1 stops improving, like torch's ReduceLROnPlateau.

    factor    multiplies the rate
    best      the best F1 so far
    stale     epochs since the best F1, or since the rate was last lowered
    """

    factor: float = 1.0
    best: float | None = None
    stale: int = 0

    def see(self, f1: float, config: TrainingConfig) -> None:
        """Record the F1 of an epoch."""
        if self.best is None or f1 > self.best * (1 + NO_BETTER):
            self.best, self.stale = f1, 0
            return
        self.stale += 1
        if self.stale > config.plateau_patience:
            self.factor *= config.plateau_factor
            self.stale = 0


class Optimiser:
    """Updates the weights of a model. `parameters` are those that learn, by name."""

    def __init__(self, model: Model, config: TrainingConfig, steps: int) -> None:
        self.config = config
        self.steps = steps
        named = dict(model.parts.named_parameters())
        self.parameters = {name: value for name, value in named.items() if value.requires_grad}
        self._adam = torch.optim.AdamW(
            list(self._groups(model)), lr=config.learning_rate, fused=model.device.type == "cpu"
        )
        self._rates = [float(group["lr"]) for group in self._adam.param_groups]

    def rate(self, step: int) -> float:
        """The learning rate of a step as a share of the highest; steps count from 0."""
        warmup = round(self.config.warmup * self.steps)
        if step < warmup:
            return (step + 1) / (warmup + 1)
        left = (self.steps - step) / max(1, self.steps - warmup)
        if self.config.schedule == "linear":
            return left
        if self.config.schedule == "cosine":
            return 0.5 * (1 + math.cos(math.pi * (1 - left)))
        return 1.0

    def clip(self) -> float:
        """Scale the gradients down to the largest norm allowed. Returns their norm before."""
        return float(nn.utils.clip_grad_norm_(list(self.parameters.values()), self.config.clip or math.inf))

    def update(self, step: int, factor: float = 1.0) -> float:
        """Update the weights and clear the gradients. Returns the head's learning rate.

        factor    multiplies the rate, in addition to its schedule
        """
        factor *= self.rate(step)
        for group, rate in zip(self._adam.param_groups, self._rates, strict=True):
            group["lr"] = rate * factor
        self._adam.step()
        self._adam.zero_grad(set_to_none=True)
        return self._rates[0] * factor

    def tensors(self) -> dict[str, Tensor]:
        """The moments of all parameters that have any."""
        state = self._adam.state
        return {
            f"{name}.{moment}": state[value][moment]
            for name, value in self.parameters.items()
            for moment in _MOMENTS
            if moment in state.get(value, {})
        }

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from these moments."""
        for name, value in self.parameters.items():
            found = {moment: tensors[f"{name}.{moment}"] for moment in _MOMENTS if f"{name}.{moment}" in tensors}
            if not found:
                continue
            if found.keys() != set(_MOMENTS) or found["exp_avg"].shape != value.shape:
                raise ModelError(f"the training state of {name} does not fit the model: start without --resume")
            step = found.pop("step")
            self._adam.state[value] = {"step": step.cpu()} | {k: v.to(value.device) for k, v in found.items()}

    def _groups(self, model: Model) -> Iterator[dict[str, object]]:
        """The head, with and without weight decay (norms and biases have none), then the encoder's layers."""
        head = [value for name, value in self.parameters.items() if not name.startswith("encoder.")]
        decay = self.config.weight_decay
        yield {"params": [value for value in head if value.ndim > 1], "weight_decay": decay}
        yield {"params": [value for value in head if value.ndim < 2], "weight_decay": 0.0}
        if not model.frozen:
            rate, layer_decay = self.config.encoder_learning_rate, self.config.layer_decay
            for group in model.encoder.parameter_groups(rate, layer_decay):
                yield group | {"weight_decay": decay}


class RunningMean:
    """An exponential running mean of the weights that learn; with decay 0, the weights themselves."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], decay: float) -> None:
        self._parameters = parameters
        self._decay = decay
        self._mean = {name: value.detach().clone() for name, value in parameters.items()} if decay else {}
        self._updates = 0

    def update(self) -> None:
        """Add the present weights to the mean; the first ones count more."""
        if not self._decay:
            return
        self._updates += 1
        decay = min(self._decay, (1 + self._updates) / (10 + self._updates))
        with torch.no_grad():
            for name, mean in self._mean.items():
                mean.lerp_(self._parameters[name], 1 - decay)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model the mean weights for a while."""
        present = {name: self._parameters[name].detach().clone() for name in self._mean}
        self._copy(self._mean)
        try:
            yield
        finally:
            self._copy(present)

    def tensors(self) -> dict[str, Tensor]:
        return {"updates": torch.tensor(self._updates), **self._mean} if self._decay else {}

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from this state."""
        if not self._decay:
            return
        if tensors.keys() != self._mean.keys() | {"updates"}:
            raise ModelError("the training state has other running means than the model: start without --resume")
        self._updates = int(tensors["updates"])
        self._mean = {name: tensors[name].to(mean.device) for name, mean in self._mean.items()}

    def _copy(self, values: Mapping[str, Tensor]) -> None:
        with torch.no_grad():
            for name, value in values.items():
                self._parameters[name].copy_(value)
