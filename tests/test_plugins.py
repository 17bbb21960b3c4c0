"""Parts from outside: installed ones by name, modules beside the user's files as module:attribute."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import corefine
from corefine import plugins
from corefine.annotation.labels import label_policy
from corefine.annotation.selectors import make_selector
from corefine.cli import app
from corefine.document import Document
from corefine.errors import ConfigError, InputError, ModelError
from corefine.formats import format_of, read_all, write
from corefine.models.load import load
from corefine.simulation.annotating import annotator_of
from corefine.simulation.config import SimulationConfig

EXAMPLE = Path(__file__).parents[1] / "examples" / "plugin"
STORY = Document.from_sentences("a", [["Ann", "saw", "Bo", "."], ["Ann", "left"]], [[(0, 0), (4, 4)]])


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example package as if it were installed: its modules, and its entry points as metadata."""
    import tomllib

    site = tmp_path / "site"
    shutil.copytree(EXAMPLE / "src" / "corefine_example", site / "corefine_example")
    metadata = site / "corefine_example-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: corefine-example\nVersion: 0.1.0\n")
    groups = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(site)
    plugins.installed.cache_clear()
    yield site
    plugins.installed.cache_clear()
    for name in [name for name in sys.modules if name.startswith("corefine_example")]:
        del sys.modules[name]


@pytest.mark.usefixtures("example")
def test_parts_of_an_installed_package(tmp_path: Path) -> None:
    path = tmp_path / "a.pairs"
    flat = Document("a", STORY.tokens, (0,), STORY.clusters)
    assert write(flat, path) == {}
    assert format_of(path).name == "pairs"
    assert read_all(path) == [flat]
    listed = CliRunner().invoke(app, ["formats", "--json"]).stdout
    assert "pairs" in [each["name"] for each in json.loads(listed)]
    assert make_selector("longest").name == "longest"
    assert label_policy("half", 0.0).unanswered == 0.5
    assert load("same-words").predict(STORY).strings == (("Ann", "Ann"),)
    config = SimulationConfig(selector="longest", annotator="shy", labels="half")
    assert type(annotator_of(STORY, config)).__name__ == "Shy"


@pytest.mark.usefixtures("example")
def test_parts_as_module_and_attribute_on_the_command_line(tmp_path: Path) -> None:
    source, target = tmp_path / "a.jsonl", tmp_path / "out.txt"
    write(STORY, source)
    run = CliRunner().invoke
    to = ["--to", "corefine_example.formats:PAIRS", "--lossy"]
    assert run(app, ["convert", str(source), str(target), *to]).exit_code == 0
    assert target.read_text().startswith("Ann saw Bo . Ann left\ne0 0 0\n")
    scored = run(app, ["score", str(source), str(source), "--json", "--metric", "corefine_example.metrics:last_words"])
    assert json.loads(scored.stdout)["corefine_example.metrics:last_words"]["f1"] == 100
    options = ["--model", "corefine_example.models:SameWords"]
    found = run(app, ["predict", str(source), str(tmp_path / "p.jsonl"), *options])
    assert found.exit_code == 0, found.output
    assert read_all(tmp_path / "p.jsonl")[0].clusters == (((0, 0), (4, 4)),)


@pytest.mark.usefixtures("example")
def test_a_model_from_outside_may_do_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for module in ("corefine.cli.predict", "corefine.models.load"):
        monkeypatch.setattr(sys.modules[module], "find_spec", lambda _: None)
    source = tmp_path / "a.jsonl"
    write(STORY, source)
    words = ["predict", str(source), str(tmp_path / "p.jsonl"), "--model"]
    found = CliRunner().invoke(app, [*words, "same-words"])
    assert found.exit_code == 0, found.output
    assert "needs torch" in str(CliRunner().invoke(app, [*words, "starter"]).exception)


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize(
    "names",
    [
        ("longest", "shy", "half", "same-words", "last-words"),
        (
            "corefine_example.selectors:Longest",
            "corefine_example.annotators:Shy",
            "corefine_example.policies:HALF",
            "corefine_example.models:SameWords",
            "corefine_example.metrics:last_words",
        ),
    ],
)
def test_a_simulation_with_parts_from_outside(tmp_path: Path, names: tuple[str, ...]) -> None:
    options = zip(("--selector", "--annotator", "--labels", "--learner", "--metric"), names, strict=True)
    given = [word for option in options for word in option]
    simulated = [
        *"simulate --corpus stories --questions 9 --rounds 1 --documents 4 --out".split(),
        str(tmp_path / "run"),
    ]
    run = CliRunner().invoke(app, [*simulated, *given])
    assert run.exit_code == 0, run.output
    assert f"{names[-1]} dev" in run.stdout
    rows = [json.loads(line) for line in (tmp_path / "run" / "rounds.jsonl").read_text().splitlines()]
    assert rows[0]["scores"]["dev"]["own"][names[-1]] > 0
    asked = [json.loads(line)["reply"] for line in (tmp_path / "run" / "questions.jsonl").read_text().splitlines()]
    assert "unsure" in asked


@pytest.mark.usefixtures("example")
def test_a_reproduction_with_parts_from_outside(tmp_path: Path) -> None:
    words = "reproduce --corpus stories --preset quick --seeds 1 --documents 4 --workers 1 --no-report".split()
    parts = ["--selector", "corefine_example.selectors:Longest", "--learner", "same-words", "--metric", "last-words"]
    run = CliRunner().invoke(app, [*words, *parts, "--only", "longest-*", "--out", str(tmp_path)])
    assert run.exit_code == 0, run.output
    assert "longest-q40-s0: F1 dev" in run.stdout
    record = json.loads((tmp_path / "rows" / "longest-q40-s0.json").read_text())
    assert record["rounds"][-1]["scores"]["dev"]["own"]["last-words"] > 0
    clash = CliRunner().invoke(app, [*words, "--selector", "my:Random", "--dry-run", "--out", str(tmp_path)])
    assert "two selectors of the grid would be called 'random'" in str(clash.exception or clash.output)


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("name", ["spelling", "corefine_example.encoders:Spelling"])
def test_a_model_over_an_encoder_from_outside(tmp_path: Path, name: str) -> None:
    from corefine.models.network.config import EncoderConfig
    from corefine.models.network.model import Model
    from corefine.models.storage.checkpoint import save_model
    from helpers import tiny

    config = replace(tiny.CONFIG, encoder=EncoderConfig(path=name))
    model = Model.create(config, cache=tmp_path / "states")
    save_model(tmp_path / "model", model)
    found = load(tmp_path / "model").predict(STORY).prediction
    assert (model.predict(STORY).probabilities == found.probabilities).all()


@pytest.mark.usefixtures("example")
def test_code_that_only_a_file_names_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends somebody a model must not choose what runs there."""
    from corefine.models.network.config import EncoderConfig
    from corefine.models.network.model import Model
    from corefine.models.storage.checkpoint import load_model, save_model
    from helpers import tiny

    name = "corefine_example.encoders:Spelling"
    monkeypatch.delenv(plugins.TRUSTED, raising=False)
    save_model(tmp_path, Model.create(replace(tiny.CONFIG, encoder=EncoderConfig(path=name))))
    load_model(tmp_path)
    monkeypatch.delenv(plugins.TRUSTED)  # another process
    with pytest.raises(ModelError, match="is Python code"):
        load_model(tmp_path)
    monkeypatch.setenv(plugins.TRUSTED, f"other:One,{name}")
    load_model(tmp_path)


@pytest.mark.parametrize("settings", [{"learner": "nobody"}, {"metric": ["nothing"]}])
def test_a_simulation_refuses_parts_that_nobody_offers(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="module:attribute, not"):
        SimulationConfig.from_dict(settings)


def test_a_metric_that_fails_is_named(tmp_path: Path) -> None:
    write(STORY, tmp_path / "a.jsonl")
    paths = [str(tmp_path / "a.jsonl")] * 2
    result = CliRunner().invoke(app, ["score", *paths, "--metric", "json:loads"])
    assert isinstance(result.exception, InputError)
    assert "json:loads failed on document a: TypeError" in str(result.exception)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_selector("nothing:here"), "there is no nothing:here"),
        (lambda: label_policy("json:loads", 0), "not a LabelPolicy"),
        (lambda: read_all("x", "json:loads"), "not a Format"),
        (lambda: make_selector("gibberish"), "there is no selector"),
    ],
)
def test_what_is_no_such_part_is_refused(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        make()


def test_the_example_package_installs(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    source = shutil.copytree(EXAMPLE, tmp_path / "source")
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", *offline, "--target", str(tmp_path / "site")]
    subprocess.run([*command, str(source)], check=True)
    program = "from corefine import plugins; print(*sorted(plugins.installed('selectors')))"
    paths = f"{tmp_path / 'site'}:{Path(corefine.__file__).parents[1]}"
    run = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": paths}, capture_output=True, text=True)
    assert run.stdout.split() == ["longest"], run.stderr


def test_the_page_shows_the_files_of_the_example() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "extend.md").read_text("utf-8")
    for file in (EXAMPLE / "src" / "corefine_example").glob("[!_]*.py"):
        assert f"```python\n{file.read_text('utf-8')}```" in page, file.name
