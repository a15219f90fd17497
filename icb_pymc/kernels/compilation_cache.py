"""numba's cache of compiled kernels on disk: when one kernel changes, all of them are recompiled.

numba recompiles a function when its own file has changed, but not when a function that it calls in another file has
changed: it would continue to use the old code, perhaps on arrays of another layout.
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba

DIGEST_FILE = "kernels.sha256"


def _cached(function: Callable[..., Any]) -> Any:
    """A kernel, compiled and stored; where nothing can be stored, in a folder of this process that goes with it.

    numba stores beside the sources, else in the user's cache, and fails if it may write to neither: an installation
    that is read-only, without a home. A folder that others can name is no choice, because what is stored is run.
    """
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError:
        numba.config.CACHE_DIR = tempfile.mkdtemp(prefix="icb_pymc-")
        atexit.register(shutil.rmtree, numba.config.CACHE_DIR, ignore_errors=True)
        return numba.njit(cache=True)(function)


@_cached
def _any_kernel() -> None:
    """Never called; it only shows where numba stores compiled functions."""


def cache_folder() -> Path | None:
    """The folder where numba stores the compiled functions of this package, or None if compilation is disabled.

    It is next to their sources, or elsewhere if that folder is not writable or NUMBA_CACHE_DIR is set.
    With NUMBA_DISABLE_JIT=1, for debugging and coverage, kernels run as plain Python.
    """
    statistics = getattr(_any_kernel, "stats", None)
    return None if statistics is None else Path(statistics.cache_path)


def clear_if_stale(sources: Path, cache: Path | None) -> None:
    """Remove the compiled functions in `cache` if any Python file in `sources` has changed since the last time."""
    if cache is None:
        return
    digest = sha256(b"\0".join(file.read_bytes() for file in sorted(sources.glob("*.py")))).hexdigest()
    stored_digest = cache / DIGEST_FILE
    try:
        if stored_digest.is_file() and stored_digest.read_text() == digest:
            return
        for compiled in cache.glob("*.nb[ic]"):
            compiled.unlink(missing_ok=True)
        cache.mkdir(parents=True, exist_ok=True)
        stored_digest.write_text(digest)
    except OSError:
        # The folder is not writable, so numba does not store anything there either.
        return
