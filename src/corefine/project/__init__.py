"""An annotation project on disk: documents, people, the append-only log of answers, model versions.

The server, the terminal, the background worker and the command line all use it.
"""

from __future__ import annotations

from corefine.project.project import Project

__all__ = ["Project"]
