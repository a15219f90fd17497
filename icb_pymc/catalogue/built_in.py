"""The models that come with the package, known without importing them."""

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

KINDS = {"": "inverse model", "irl": "inverse model", "agents": "agent"}


class CatalogueEntry(NamedTuple):
    """A model of the catalogue."""

    name: str
    kind: str
    module: str
    summary: str


def built_in() -> Iterator[CatalogueEntry]:
    """The models of `icb_pymc.models`; a summary is the first line of the file's docstring."""
    spec = find_spec("icb_pymc.models")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    root = Path(next(iter(spec.submodule_search_locations)))
    for folder, kind in KINDS.items():
        for file in sorted((root / folder).glob("*.py")):
            if not file.stem.startswith("_"):
                docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
                module = ".".join(part for part in ("icb_pymc.models", folder, file.stem) if part)
                summary = docstring.partition("\n")[0].partition(": ")[2]
                yield CatalogueEntry(file.stem, kind, module, summary)
