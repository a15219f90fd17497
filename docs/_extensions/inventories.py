"""Small inventories of other projects' pages, for builds without a network.

`docs/inventories/NAME.txt` has one line for each object that our pages link to, in the words of a Sphinx inventory:
name, domain and role, priority, address. Where there is a network, the project's own inventory is used instead.
"""

import zlib
from pathlib import Path

DOCS = Path(__file__).parents[1]


def pack(name: str) -> str:
    """Write ``_build/inventories/NAME.inv`` and return its path relative to the pages."""
    lines = (DOCS / "inventories" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    entries = "".join(f"{line} -\n" for line in lines if line)
    header = f"# Sphinx inventory version 2\n# Project: {name}\n# Version: \n# The rest is compressed with zlib.\n"
    packed = DOCS / "_build" / "inventories" / f"{name}.inv"
    packed.parent.mkdir(parents=True, exist_ok=True)
    packed.write_bytes(header.encode() + zlib.compress(entries.encode()))
    return str(packed.relative_to(DOCS))
