"""Compiled kernels are kept on disk: when one of them changes, all are compiled anew.

numba compiles a function again when its own file has changed, but not when a function in another file has that it
calls: after such a change it would go on with the old one, on arrays of another layout perhaps.
"""

import os
from hashlib import sha256
from pathlib import Path

REMEMBERED = "kernels.sha256"


def forget_stale(folder: Path) -> None:
    """If any file of `folder` is not what it was the last time, date all of them anew, which numba takes for a change.

    Where nothing can be written (a package that was installed and is only ever replaced as a whole) nothing is done.
    """
    files = sorted(folder.glob("*.py"))
    digest = sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
    note = folder / "__pycache__" / REMEMBERED
    try:
        if note.is_file() and note.read_text() == digest:
            return
        for file in files:
            os.utime(file)
        note.parent.mkdir(exist_ok=True)
        note.write_text(digest)
    except OSError:
        return
