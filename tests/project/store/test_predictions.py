"""Predictions as files."""

from __future__ import annotations

import io

import numpy as np
import pytest

from corefine.models import rules
from corefine.prediction import Prediction
from corefine.project import Project
from corefine.project.store.predictions import DAMAGED, _array, parse


def test_predictions_survive_storing(sqlite_project: Project) -> None:
    document = sqlite_project.documents.get(1)
    made = rules.predict(document)
    sqlite_project.predictions.save(7, 1, made)
    read = sqlite_project.predictions.load(7, 1)
    assert read.spans == made.spans
    for name in ("candidates", "probabilities", "mention_scores"):
        assert np.array_equal(getattr(read, name), getattr(made, name))
    assert read.members is None
    empty = Prediction((), np.zeros((0, 3), dtype=np.int64), np.zeros((0, 4)))
    sqlite_project.predictions.save(7, 2, empty)
    assert sqlite_project.predictions.load(7, 2).spans == ()


def test_arrays_are_read_as_numpy_reads_them() -> None:
    plain = [np.zeros((2, 3), "<i4"), np.array("half"), np.array(0.5), np.zeros((0, 4)), np.array([True, False])]
    others = [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.zeros(3, dtype=[("a", "<i4")])]
    for array in (*plain, *others):
        buffer = io.BytesIO()
        np.save(buffer, array)
        read = _array(buffer.getvalue())
        assert (read.dtype, read.shape) == (array.dtype, array.shape)
        assert np.array_equal(read, array)
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], dtype=object))
    for damaged in (buffer.getvalue(), b"", b"\x93NUMPY"):
        with pytest.raises(DAMAGED):
            _array(damaged)


def test_damage_anywhere_is_noticed(sqlite_project: Project) -> None:
    made = rules.predict(sqlite_project.documents.get(1))
    sqlite_project.predictions.save(7, 1, made)
    sound = sqlite_project.predictions.path(7, 1).read_bytes()
    for at in {*range(0, len(sound), 97), *range(300), *range(len(sound) - 800, len(sound))}:
        changed = sound[:at] + bytes([sound[at] ^ 64]) + sound[at + 1 :]
        for damaged in (changed, sound[:at], sound[:at] + sound[at + 1 :]):
            try:
                read = parse(damaged)
            except DAMAGED:
                continue
            assert read.spans == made.spans  # a date, or a name that stands in the file twice
            assert np.array_equal(read.probabilities, made.probabilities)
            assert np.array_equal(read.candidates, made.candidates)


def test_compressed_files_are_read_too(sqlite_project: Project) -> None:
    made = rules.predict(sqlite_project.documents.get(1))
    buffer = io.BytesIO()
    spans = np.array(made.spans)
    np.savez_compressed(buffer, spans=spans, candidates=made.candidates, probabilities=made.probabilities)
    read = parse(buffer.getvalue())
    assert read.spans == made.spans
    assert np.array_equal(read.probabilities, made.probabilities)
