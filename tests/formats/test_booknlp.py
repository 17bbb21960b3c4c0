"""BookNLP's tables, and what is wrong with some."""

from __future__ import annotations

from pathlib import Path

from corefine.errors import Fault
from corefine.formats import read_all


def test_a_row_without_a_needed_column_is_reported_with_its_line(tmp_path: Path) -> None:
    names = "lemma\tparagraph_ID\tsentence_ID\ttoken_ID_within_sentence\ttoken_ID_within_document\tword"
    (tmp_path / "a.tokens").write_text(f"{names}\nann\t0\t0\t0\t0\tAnn\nleave\t0\t0\t1\t1\n")
    (tmp_path / "a.entities").write_text("COREF\tstart_token\tend_token\n1\t0\t0\n")
    faults: list[Fault] = []
    assert read_all(tmp_path / "a.tokens", on_fault=faults.append) == []
    assert [(fault.line, fault.what) for fault in faults] == [(3, "5 columns, where the first line has 6")]
