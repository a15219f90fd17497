"""Runs small enough for tests."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from icb_pymc.io.workers import Workers
from icb_pymc.reproduce.paper_tables import PaperTable
from icb_pymc.reproduce.scale import Scale

SMALL = Scale(
    agents=("stationary", "stepping"),
    seeds=2,
    steps=30,
    long_steps=60,
    exact={"draws": 20, "tune": 20, "chains": 2},
    exact_learning={"draws": 25, "tune": 20, "chains": 2},
    paper={"draws": 20, "tune": 20, "iterations": 3},
    kept=(10, 15),
    long_kept=(10, 15),
)


@pytest.fixture(scope="session")
def small():
    """Thirty decisions, two agents, two seeds, a few draws."""
    return SMALL


@pytest.fixture(scope="session")
def little_table():
    """A table of two algorithms that need no sampling."""
    return PaperTable(3, "Rewards", "reward", ("Baseline", "T-REX"))


@pytest.fixture(scope="session")
def in_this_process():
    """Workers without processes of their own."""

    @contextmanager
    def start():
        with ThreadPoolExecutor(1) as executor:
            yield Workers(executor, lambda: 1)

    return start
