"""Files are written under a temporary name and then renamed, so that no file is ever half-written."""

import glob
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from icb_pymc.errors import InputError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:
    # Windows: what a killed process leaves behind stays there.
    flock = None  # type: ignore[assignment]

# Part of a temporary name, which no one else gives.
UNFINISHED = "-unfinished-"


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; rename it to `path` if the block succeeds, else remove it.

    Raises
    ------
    InputError
        If the file cannot be written; an existing file is then unchanged.
    """
    target = Path(path)
    check_target(target)
    try:
        prefix = f".{target.stem}{UNFINISHED}"
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}.") from error
    temporary, is_locked = Path(name), _lock(handle)
    if not is_locked:
        # Windows does not rename open files.
        os.close(handle)
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
        if is_locked:
            os.close(handle)
        temporary.unlink(missing_ok=True)


def remove_abandoned(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes have left half-written in a folder; a file that is being written has a lock.

    Parameters
    ----------
    folder : Path
    name : str, optional
        Of the file that they were writing; by default any.
    """
    stem, suffix = ("*", "") if name is None else (glob.escape(Path(name).stem), glob.escape(Path(name).suffix))
    for path in folder.glob(f".{stem}{UNFINISHED}*{suffix}") if flock is not None else ():
        try:
            # An empty file may be a new one, which is about to be locked.
            if path.stat().st_size:
                with path.open("rb") as file:
                    if _lock(file.fileno()):
                        path.unlink()
        except OSError:
            # Another process removes it, or it belongs to another user.
            continue


def _lock(handle: int) -> bool:
    """Whether this process alone now holds the lock of an open file."""
    if flock is None:
        return False
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def check_target(path: str | Path) -> None:
    """Raise `InputError` if `path` cannot be the name of a new file: checked before the work begins."""
    target = Path(path)
    if not is_folder(target.parent):
        raise InputError(f"{target}: the folder {target.parent} does not exist; create it first.")
    if is_folder(target):
        raise InputError(f"{target} is a folder; give the name of a file.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"{target} cannot be written: you may not write into the folder {target.parent}.")


def existing(path: str | Path) -> Path:
    """Return `path` if it is a file that can be read, else raise an `InputError`."""
    source = Path(path)
    if is_file(source):
        if not os.access(source, os.R_OK):
            raise InputError(f"{source}: you may not read this file; ask its owner.")
        return source
    if is_folder(source):
        raise InputError(f"{source} is a folder; give the name of a file.")
    raise InputError(f"{source}: there is no such file.")


def is_file(path: str | Path) -> bool:
    """Whether this is a file; raises `InputError` if the system cannot say, or cannot have such a name."""
    return stat.S_ISREG(_mode(Path(path)))


def is_folder(path: str | Path) -> bool:
    """Whether this is a folder; raises `InputError` as `is_file` does."""
    return stat.S_ISDIR(_mode(Path(path)))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}.") from error
    except ValueError as error:
        # A name with a NUL byte.
        raise InputError(f"{path}: no file can have this name.") from error
