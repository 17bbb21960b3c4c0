"""Where corefine keeps what it downloads or can compute again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HOME = "COREFINE_HOME"
"""Environment variable: one folder for all of it, instead of the system's own place for caches."""


def home_folder() -> Path:
    """The folder for corpora, cached encoder states and the like. It may not exist yet."""
    if named := os.environ.get(HOME):
        return Path(named).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "corefine"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "corefine"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "corefine"
