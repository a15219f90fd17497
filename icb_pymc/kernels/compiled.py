"""Compiled kernels are kept on disk: when one of them changes, all are compiled anew.

numba compiles a function again when its own file has changed, but not when a function in another file has that it
calls: after such a change it would go on with the old one, on arrays of another layout perhaps.
"""

from hashlib import sha256
from pathlib import Path

import numba

REMEMBERED = "kernels.sha256"


@numba.njit(cache=True)
def _any_kernel() -> None:
    """Never called: it is here to be asked where numba keeps what is compiled."""


def where_kept() -> Path:
    """Where numba keeps the functions of this folder: beside them, or elsewhere if that is not writable or not wished.

    The wish is the environment variable NUMBA_CACHE_DIR.
    """
    return Path(_any_kernel.stats.cache_path)


def forget_stale(folder: Path, kept: Path) -> None:
    """Remove the compiled functions in `kept` if any file in `folder` is not what it was the last time."""
    digest = sha256(b"\0".join(file.read_bytes() for file in sorted(folder.glob("*.py")))).hexdigest()
    note = kept / REMEMBERED
    try:
        if note.is_file() and note.read_text() == digest:
            return
        for compiled in kept.glob("*.nb[ic]"):
            compiled.unlink(missing_ok=True)
        kept.mkdir(parents=True, exist_ok=True)
        note.write_text(digest)
    except OSError:
        # Nothing can be written there, so that numba keeps nothing there either.
        return
