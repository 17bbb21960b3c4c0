"""Ray: a cluster of two nodes in this test, one of which is lost in the middle of the work."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corefine.errors import InputError, MissingExtraError
from corefine.reproduction.cells import grid
from corefine.simulation import ray_cluster
from corefine.simulation.grid import CellDone, run_grid
from corefine.simulation.ray_cluster import RayExecutor, connect, run_grid_on_ray
from helpers.small import FILES, contents, finish, rules, short_stories, tiny

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own warnings are not ours to mend


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()


def test_an_address_that_does_not_answer_is_an_error_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(InputError, match=rf"no Ray cluster answers at 127.0.0.1:{port}"):
        connect(f"127.0.0.1:{port}")
    with pytest.raises(InputError, match="is not an address of a Ray cluster"):
        connect("nonsense")


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"corefine\[ray\]"):
        connect("local")


def test_nothing_imports_ray_unless_it_is_asked_for() -> None:
    import subprocess

    program = (
        "import sys; import corefine.simulation.grid, corefine.simulation.runs, corefine.simulation.learners; "
        "from corefine.cli import app; sys.exit('ray' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_node_that_is_lost_loses_and_doubles_nothing(cluster: Any, tmp_path: Path) -> None:
    import ray

    cells = grid(rules(), budgets=(30, 90), seeds=1, groups=["main"])
    corpus = short_stories(200)
    list(run_grid(cells, tmp_path / "here", corpus))
    node = cluster.add_node(num_cpus=2)
    cluster.wait_for_nodes()
    results = []
    for result in run_grid_on_ray(cells, tmp_path / "ray", corpus):
        if not results:
            cluster.remove_node(node)  # in the middle: most cells are running or waiting
        results.append(result)
    assert sorted(result.cell.name for result in results) == sorted(cell.name for cell in cells)
    assert all(isinstance(result, CellDone) for result in results)
    assert len(ray.nodes()) == 2
    for cell in cells:
        one, two = (tmp_path / place / "cells" / cell.name for place in ("here", "ray"))
        assert contents(one) == contents(two)
        rows = [json.loads((tmp_path / p / "rows" / f"{cell.name}.json").read_bytes()) for p in ("here", "ray")]
        assert {**rows[0], "timing": None} == {**rows[1], "timing": None}
    again = list(run_grid_on_ray(cells, tmp_path / "ray", corpus))
    assert not any(result.ran for result in again if isinstance(result, CellDone))


@pytest.mark.usefixtures("cluster")
def test_a_committee_on_ray_is_the_committee_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "CHUNK", 1)
    config = tiny(documents=4, selector="committee", committee=2)
    corpus = short_stories()
    finish(config, tmp_path / "here", corpus)
    finish(config, tmp_path / "ray", corpus, executor=RayExecutor())
    assert contents(tmp_path / "here") == contents(tmp_path / "ray")
    assert set(FILES) <= {path.name for path in (tmp_path / "ray").iterdir()}


@pytest.mark.parametrize(("there", "device", "gpus"), [(2, "auto", 1), (2, "cuda", 1), (2, "cpu", 0), (0, "auto", 0)])
def test_a_task_takes_a_gpu_where_the_cluster_has_one(
    there: int, device: str, gpus: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ray.cluster_resources", lambda: {"CPU": 4, "GPU": there})
    assert ray_cluster._gpus(device) == gpus


def test_a_gpu_that_no_machine_has_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.cluster_resources", lambda: {"CPU": 4})
    with pytest.raises(InputError, match="no machine of the Ray cluster has a GPU"):
        ray_cluster.RayExecutor().own_device("cuda")
