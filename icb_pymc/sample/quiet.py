"""Sampling many times without PyMC's log of each run."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pymc as pm


@contextmanager
def quiet_pymc() -> Iterator[None]:
    """Let PyMC log errors only; afterwards its logger has the level that it had."""
    # PyMC sets the level when it is imported, so it must be imported first.
    logger = logging.getLogger(pm.__name__)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
