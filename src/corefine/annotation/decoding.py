"""The clusters of a prediction, given what people said."""

from __future__ import annotations

from corefine.annotation.revision import Revision
from corefine.document import Cluster
from corefine.links import Links
from corefine.prediction import Prediction


def decode(prediction: Prediction, links: Links | None = None) -> tuple[Cluster, ...]:
    """Clusters of two or more mentions: model links and human links together, every answer respected."""
    return Revision(prediction, links if links is not None else Links()).clusters()
