"""In executed pages a deprecation is an error, where the page or this package causes it.

Pages must not show what will be removed. Kernels read no `-W` option and set filters of their own when they start, so
the rule is a start-up file of IPython, in a profile that is written where pages are built.
"""

import os
from pathlib import Path

STARTUP = """
import warnings

for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
    for module in (r"__main__$", r"icb_pymc(\\.|$)"):
        warnings.filterwarnings("error", category=category, module=module)
# What ArviZ says of itself whenever it is imported is of no use to readers.
warnings.filterwarnings("ignore", message=r"\\s*ArviZ is undergoing a major refactor")
"""


def prepare(folder: Path) -> None:
    """Write the profile into this folder and have kernels use it."""
    startup = folder / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "own_warnings.py").write_text(STARTUP, encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(folder)
