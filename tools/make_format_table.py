"""Writes the table of formats into docs/formats.md: `python tools/make_format_table.py`."""

from __future__ import annotations

from pathlib import Path

from corefine.formats.format_table import BEGIN, END, markdown

PAGE = Path(__file__).parents[1] / "docs" / "formats.md"


def with_table(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{markdown()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
