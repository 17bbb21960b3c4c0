"""The package's description, made from README.md when a wheel or sdist is built.

A package index shows the description without the files of the repository. So links to files become absolute ones,
below `Repository` of [project.urls]. Without such an address, pictures are left out, and a link becomes its words.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]*)\)")


def description(readme: str, repository: str | None) -> str:
    """The README for readers who do not have the repository; `repository` is its address on a branch."""
    if repository is None:
        return _LINK.sub(r"\2", _PICTURE.sub("", readme))
    address = repository.rstrip("/")

    def absolute(link: re.Match[str]) -> str:
        folder = "raw" if link[1] else "blob"
        return f"{link[1]}[{link[2]}]({address}/{folder}/main/{link[3]})"

    return _LINK.sub(absolute, readme)


class ReadmeHook(MetadataHookInterface):
    """Fills in `readme`, which pyproject.toml declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text("utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        metadata["readme"] = {"content-type": "text/markdown", "text": description(text, repository)}
