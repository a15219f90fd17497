"""Whether graphs are compiled: quick tests run them by Python, because compiling takes longer than running them."""

from contextlib import AbstractContextManager

import pytensor

AS_FOR_USERS = {"mode": pytensor.config.mode, "cxx": pytensor.config.cxx}


def graphs_in_python() -> AbstractContextManager:
    """Few rewrites, and no C and no numba: each operation of a graph is run by Python."""
    return pytensor.config.change_flags(mode="FAST_COMPILE", cxx="")


def graphs_compiled() -> AbstractContextManager:
    """As for users: for a fixture or a part of a test that evaluates a graph thousands of times, or a long scan."""
    return pytensor.config.change_flags(**AS_FOR_USERS)
