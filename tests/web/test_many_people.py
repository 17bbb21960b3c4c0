"""Many people at once. The times are a bar of `make bench`; that nothing goes wrong is tested always."""

from __future__ import annotations

import pytest

import answer
import load
from helpers.projects import fresh_postgres


def url_of(database: str, request: pytest.FixtureRequest) -> str | None:
    return None if database == "sqlite" else fresh_postgres(request.getfixturevalue("postgres_server"))


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_people_at_once_without_an_error(database: str, request: pytest.FixtureRequest) -> None:
    times = load.measure(people=12, answers=4, think=0.05, database=url_of(database, request))
    assert (times.waits.count, times.errors, times.database) == (48, 0, database)
    assert "12 people" in load.described(times)


@pytest.mark.bench
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_fifty_people_wait_less_than_300_ms(database: str, request: pytest.FixtureRequest) -> None:
    times = load.measure(people=50, answers=20, database=url_of(database, request))
    assert times.failure is None, load.described(times)


@pytest.mark.bench
def test_the_servers_share_of_an_answer() -> None:
    times = answer.measure()
    assert times.failure is None, answer.described(times)
