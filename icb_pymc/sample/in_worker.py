"""A fit in a worker process: its trace comes back as the bytes of a file, or what went wrong as a sentence."""

import gc
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import pytensor
from pytensor.graph.rewriting.basic import OpToRewriterTracker

from icb_pymc.errors import InputError, InputWarning
from icb_pymc.io.machine import give_back_freed_memory
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.traces import trace_bytes
from icb_pymc.sample.quiet import quiet_pymc

# A worker of a cluster may have several threads; models must be compiled in one thread at a time.
_fit_lock = Lock()
# Between two searches for garbage, of which building graphs makes hardly any.
NEW_OBJECTS = 100_000


# After so many fits what PyTensor remembers of their graphs is forgotten, which takes as long as one of them.
FITS_REMEMBERED = 50
_fits = count(1)


class FitOutcome(NamedTuple):
    """The contents of a trace's file, or an error message."""

    content: bytes | None
    error: str | None = None


def outcome_of(make: Callable[[], InferenceData]) -> FitOutcome:
    """Make a trace; errors are returned as text, since not every exception can be sent between processes."""
    gc.set_threshold(NEW_OBJECTS)
    # Where in our code each node of a graph was made is for developers; it takes a twentieth of a short fit.
    with _fit_lock, pytensor.config.change_flags(traceback__limit=0):
        if next(_fits) % FITS_REMEMBERED == 0:
            forget_graphs()
        try:
            return FitOutcome(trace_bytes(make()))
        except InputError as error:
            return FitOutcome(None, str(error))
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            return FitOutcome(None, f"{type(error).__name__}: {error} ({Path(at.filename).name}, line {at.lineno})")


def forget_graphs() -> None:
    """Let go of the graphs of earlier models, half a megabyte each.

    PyTensor remembers for ever which rewrites apply to an operation, and with the operations of a model, such as its
    random variables, all that these were made from.
    """
    # What is frozen is not among the objects.
    gc.unfreeze()
    for known in gc.get_objects():
        if type(known) is OpToRewriterTracker:
            known.get_trackers.cache_clear()
    gc.collect()
    # A fit of a long log has told the C library to keep what is freed.
    give_back_freed_memory()


@contextmanager
def quiet_fits() -> Iterator[list[str]]:
    """Fit without a log; warnings about the user's input are in the list that is yielded when the context is left."""
    cautions: list[str] = []
    with quiet_pymc(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", InputWarning)
        yield cautions
    cautions += [str(warning.message) for warning in caught]
