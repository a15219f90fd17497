"""numba's cache of compiled kernels on disk: when one kernel changes, all are compiled again.

numba compiles a function again when its own file has changed, but not when a function that it calls, in another file,
has: it would go on with the old one, perhaps on arrays of another layout.
"""

from hashlib import sha256
from pathlib import Path

import numba

DIGEST_FILE = "kernels.sha256"


@numba.njit(cache=True)
def _any_kernel() -> None:
    """Never called: it is asked where numba keeps what it compiles."""


def cache_folder() -> Path | None:
    """Where numba keeps the compiled functions of this folder, or None where it compiles nothing.

    That is beside them, or elsewhere if that folder is not writable or NUMBA_CACHE_DIR is set in the environment.
    With NUMBA_DISABLE_JIT=1, for debugging and coverage, kernels are plain Python.
    """
    statistics = getattr(_any_kernel, "stats", None)
    return None if statistics is None else Path(statistics.cache_path)


def clear_if_stale(sources: Path, cache: Path | None) -> None:
    """Remove the compiled functions in `cache` if any Python file in `sources` has changed since the last time."""
    if cache is None:
        return
    digest = sha256(b"\0".join(file.read_bytes() for file in sorted(sources.glob("*.py")))).hexdigest()
    remembered = cache / DIGEST_FILE
    try:
        if remembered.is_file() and remembered.read_text() == digest:
            return
        for compiled in cache.glob("*.nb[ic]"):
            compiled.unlink(missing_ok=True)
        cache.mkdir(parents=True, exist_ok=True)
        remembered.write_text(digest)
    except OSError:
        # Nothing can be written there, so numba keeps nothing there either.
        return
