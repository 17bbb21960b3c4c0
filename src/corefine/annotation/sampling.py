"""A random order of a document's mentions, for questions that explore.

Questions about the mentions that a model is least sure of are an odd sample to learn from. A share of the questions is
therefore about the next mention in a random order, which is the same for all people and all versions of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from corefine.document import Span
from corefine.prediction import Indices


def sample_order(spans: Sequence[Span]) -> Indices:
    """The rows of these spans in a random order that depends on each span alone."""
    keys = [blake2b(f"{span.start},{span.end}".encode(), digest_size=8).digest() for span in spans]
    return np.array(sorted(range(len(spans)), key=keys.__getitem__), dtype=np.int64)


def sampling_phase(spans: Sequence[Span]) -> float:
    """A number from 0 to 1 that differs between documents: how soon the first question about the sample comes."""
    key = f"{len(spans)},{spans[0].start if spans else 0},{spans[-1].end if spans else 0}"
    return int.from_bytes(blake2b(key.encode(), digest_size=4).digest()) / 2**32
