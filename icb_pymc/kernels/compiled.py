"""Compiled kernels are kept on disk: when one of them changes, all are compiled anew.

numba compiles a function again when its own file has changed, but not when a function in another file has that it
calls: after such a change it would go on with the old one, on arrays of another layout perhaps.
"""

from hashlib import sha256
from pathlib import Path

REMEMBERED = "kernels.sha256"


def forget_stale(folder: Path) -> None:
    """Remove what numba keeps of the functions in `folder`, if any file there is not what it was the last time."""
    digest = sha256(b"\0".join(file.read_bytes() for file in sorted(folder.glob("*.py")))).hexdigest()
    kept = folder / "__pycache__"
    note = kept / REMEMBERED
    try:
        if note.is_file() and note.read_text() == digest:
            return
        for compiled in kept.glob("*.nb[ic]"):
            compiled.unlink(missing_ok=True)
        kept.mkdir(exist_ok=True)
        note.write_text(digest)
    except OSError:
        # Nothing can be written here, so that numba keeps nothing here either.
        return
