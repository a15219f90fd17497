"""A place for what PyTensor compiles and matplotlib caches, where there is no home folder that they may use."""

import atexit
import os
import shutil
import tempfile
import warnings
from pathlib import Path

from icb_pymc.errors import InputWarning


def ensure_place_for_caches() -> None:
    """Let libraries use a private folder, which goes with this process, if the home folder cannot be written.

    PyTensor fails when it is imported if it cannot make a folder at home: in a container whose user has no name or no
    home, or with a read-only home. Call it before that.
    """
    home = _home()
    if home is not None and os.access(home, os.W_OK | os.X_OK):
        return
    flags = os.environ.get("PYTENSOR_FLAGS", "")
    if "compiledir" in flags and home is not None:
        return
    folder = tempfile.mkdtemp(prefix="icb_pymc-")
    owner = os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    if home is None:
        os.environ["HOME"] = folder
    if "compiledir" not in flags:
        os.environ["PYTENSOR_FLAGS"] = f"{flags},base_compiledir={folder}".strip(",")
    os.environ.setdefault("MPLCONFIGDIR", folder)
    warnings.warn(
        "the home folder cannot be written, so everything is compiled anew: set HOME to a folder that can.",
        InputWarning,
        stacklevel=2,
    )


def _home() -> Path | None:
    """The home folder, or None if there is none."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home if home.is_dir() else None
