"""Models by name. Importing this module does not import torch.

A name is one of: a folder that `corefine train` wrote (a model or a committee); "starter" or "strong", the models that
ship with corefine; "rules", which need no weights; or "module:attribute", an object with a method `predict(document)`
that returns a `Prediction`, or a function or class that makes such an object. Installed packages may offer further
names (see `plugins`).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from corefine import plugins
from corefine.errors import CorefineError, InputError, MissingExtraError, ModelError

if TYPE_CHECKING:
    from corefine.models.resolver import Predictor, Resolver

SHIPPED = {name: Path(__file__).with_name(name) for name in ("starter", "strong")}
"""The models that ship with corefine."""

RULES = "rules"


def need_model() -> None:
    """Raise unless the extra "model" is installed."""
    for package in ("torch", "safetensors", "transformers"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "model")


def load(path_or_name: str | Path = "starter", *, device: str = "auto", cache: Path | None = None) -> Resolver:
    """The model with this name: a folder, "starter", "strong", "rules" or "module:attribute".

    device    "auto", "cpu", "cuda" or "mps"
    cache     a folder for encoder states, which makes predicting a document again much faster
    """
    from corefine.models.resolver import Resolver

    name = str(path_or_name)
    if name == RULES:
        from corefine.models import rules

        return Resolver(rules, name)
    folder = model_folder(path_or_name)
    if folder is None:
        return Resolver(_plugged_in(name), name)
    need_model()
    from corefine.models.committee import is_committee, load_committee
    from corefine.models.devices import choose_device
    from corefine.models.storage.checkpoint import load_model

    model = load_committee(folder, cache=cache) if is_committee(folder) else load_model(folder, cache=cache)
    return Resolver(model.to(choose_device(device)), name)


def model_folder(path_or_name: str | Path) -> Path | None:
    """The folder of a trained model or committee; None for "rules" and Python code. Raises if there is no model."""
    name = str(path_or_name)
    folder = SHIPPED.get(name) or Path(path_or_name).expanduser()
    if _holds_model(folder):
        return folder
    if name == RULES or plugins.known("models", name):
        return None
    if name in SHIPPED:
        raise ModelError(f"this installation lacks the model {name!r}; train it with `make {name}`")
    shown = str(folder)[:200]
    raise ModelError(
        f"{shown} holds no model: give a folder that `corefine train` wrote, {', '.join(map(repr, SHIPPED))}, "
        f"{RULES!r} or module:attribute"
    )


def is_english(path_or_name: str | Path) -> bool:
    """Whether the model with this name knows no language but English. False if that cannot be told."""
    from corefine.models.network.encoders.known import encoder_of

    if str(path_or_name) == RULES:
        return True
    try:
        folder = model_folder(path_or_name)
        encoder = None if folder is None else encoder_of(folder)
    except (CorefineError, OSError, ValueError):  # a committee, for example
        return False
    return encoder is not None and encoder.is_english


def _holds_model(folder: Path) -> bool:
    try:
        return any((folder / f"{kind}.json").is_file() for kind in ("model", "committee"))
    except OSError:  # a name that is too long
        return False


def names_committee(path_or_name: str | Path) -> bool:
    """Whether this names a committee. Raises if there is no such model."""
    folder = model_folder(path_or_name)
    return folder is not None and (folder / "committee.json").is_file()


def lasting_name(name: str) -> str:
    """The name, with the whole path if it is that of a folder: whoever reads it later may run elsewhere."""
    folder = model_folder(name)
    return str(folder.resolve()) if folder is not None and Path(name).expanduser() == folder else name


def _plugged_in(name: str) -> Predictor:
    """The object that "module:attribute" or an entry point names."""
    found = plugins.find("models", name)
    if isinstance(found, type) or not hasattr(found, "predict"):
        if not callable(found):
            raise InputError(f"{name} has no method `predict`, and cannot be called to make such an object")
        found = plugins.make("models", name)
    if not hasattr(found, "predict"):
        raise InputError(f"{name} makes a {type(found).__name__}, which has no method `predict(document)`")
    predictor: Predictor = found
    return predictor
