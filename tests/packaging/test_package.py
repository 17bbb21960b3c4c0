"""The wheel holds what an installation needs, and works without the extras; Docker's files are sound."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from corefine.cli import app
from corefine.cli.doctor import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

WITHOUT_EXTRAS = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "fastapi", "sqlalchemy", "ray", "matplotlib", "cassis"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
import corefine
from corefine.cli import app
from typer.testing import CliRunner
assert corefine.__file__.startswith(sys.argv[1]), corefine.__file__
for arguments in (["--help"], ["formats"], ["doctor"]):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in (0, 1) and not isinstance(result.exception, ImportError), (arguments, result.output)
document = corefine.Document.from_text("Ann left. She smiled.")
assert corefine.load("rules").predict(document).document is document
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_has_data_and_works_without_extras(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert not [name for name in names if name.startswith("tests")]
    for part in ("py.typed", "models/training/recipes/default.toml", "web/static/index.html"):
        assert f"corefine/{part}" in names, part
    command = [sys.executable, "-c", WITHOUT_EXTRAS, str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


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
