"""Tasks in forked processes, which need not import or compile again what this process has."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from icb_pymc.errors import InputError

_function: Callable[[int], Any] | None = None


def in_forks(function: Callable[[int], Any], numbers: Iterable[int], processes: int) -> Iterator[Any]:
    """``function(number)`` of each number, in order.

    The function may be a closure, since it is not sent between processes; its results are. Where processes cannot be
    forked, or one is enough, all is done here.

    Parameters
    ----------
    function : callable
    numbers : iterable of int
    processes : int

    Raises
    ------
    InputError
        If a process dies.

    Examples
    --------
    >>> list(in_forks(lambda number: number**2, [1, 2, 3], processes=1))
    [1, 4, 9]
    """
    global _function
    if processes <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(function, numbers)
        return
    _function = function
    try:
        with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
            yield from pool.map(_call, numbers)
    except BrokenProcessPool:
        raise InputError("a process was killed, or ran out of memory: give fewer processes.") from None
    finally:
        _function = None


def _call(number: int) -> Any:
    assert _function is not None
    return _function(number)
