"""Runs coroutines where browser tests may have left an event loop running in the thread of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_in_own_loop(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine, from a loop in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
