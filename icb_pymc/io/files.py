"""Files are written under a temporary name and then renamed, so that no file is ever half-written."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from icb_pymc.errors import InputError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; rename it to `path` if the block succeeds, else remove it.

    Raises
    ------
    InputError
        If the file cannot be written; an existing file is then unchanged.
    """
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
        # Flush to the disk before the old file is replaced: only then does a full disk raise an error.
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        # mkstemp makes private files; give a result the permissions of any other new file of the user.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(f"{target} cannot be written, and an existing file was not changed: {reason}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def existing(path: str | Path) -> Path:
    """Return `path` if it is a file, else raise an `InputError`."""
    source = Path(path)
    if not source.is_file():
        raise InputError(f"{source}: there is no such file.")
    return source
