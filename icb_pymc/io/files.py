"""Files are written under a temporary name and moved into place, so that none is ever half-written."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from icb_pymc.errors import InputError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it onto `path` if all went well, else remove it."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist; create it first.")
    if target.is_dir():
        raise InputError(f"{target} is a folder; give the name of a file.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # On the disk before the old file goes: a full disk or a power cut is not noticed earlier.
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        # mkstemp makes files private; a result is as readable as any other new file of the user's.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(f"{target} cannot be written, and what was there is as it was: {reason}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def existing(path: str | Path) -> Path:
    """Return `path` if there is a file, else say that there is none."""
    source = Path(path)
    if not source.is_file():
        raise InputError(f"{source}: there is no such file.")
    return source
