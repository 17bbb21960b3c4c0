from __future__ import annotations

from pathlib import Path

import pytest

from corefine.errors import InputError
from corefine.simulation.summary import load_records, record_of
from helpers.small import finish, rules, stories


def test_runs_that_belong_to_no_grid_are_told_apart(tmp_path: Path) -> None:
    for name, settings in (("a", {}), ("b", {"labels": "mix"}), ("c", {"seed": 1})):
        finish(rules(documents=4, **settings), tmp_path / name, stories())
    kinds = [record.kind for record in load_records([tmp_path / "a", tmp_path / "b", tmp_path / "c", tmp_path / "a"])]
    assert len(kinds) == 3
    assert kinds[0] == kinds[2]
    assert set(kinds[1].split(", ")) - set(kinds[0].split(", ")) == {"labels mix"}
    finish(rules(documents=5), tmp_path / "d", stories())
    with pytest.raises(InputError, match="two different runs are"):
        load_records([tmp_path / "a", tmp_path / "d"])


def test_records_of_what_is_not_finished_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is neither"):
        load_records([tmp_path / "nowhere"])
    with pytest.raises(InputError, match="no finished run"):
        load_records([tmp_path])
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(InputError, match="not a record"):
        load_records([tmp_path / "x.json"])
    with pytest.raises(InputError, match="not finished"):
        record_of(tmp_path)


def test_a_spread_run_counts_its_documents_once_and_its_gain_from_the_beginning(tmp_path: Path) -> None:
    config = rules(spread=True, rounds=3)
    rows = finish(config, tmp_path / "run", stories())
    record = record_of(tmp_path / "run")
    asked = [row.asked for row in rows if row.asked]
    assert record.annotated == asked[0].documents == 6
    assert record.delta_f1 == asked[-1].after_f1 - asked[0].before_f1
