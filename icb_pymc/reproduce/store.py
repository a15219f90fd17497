"""Finished runs on disk: one trace each, which contains the description of its run."""

import json
from pathlib import Path

from icb_pymc.errors import InputError
from icb_pymc.io.files import remove_abandoned, replacing
from icb_pymc.reproduce.unit import Unit
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.traces import read_attributes, read_trace


class Store:
    """A folder of finished runs."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder} cannot be created: {error.strerror}.") from error
        remove_abandoned(self.folder)

    def path(self, unit: Unit) -> Path:
        """The file of the run, whether it exists or not."""
        return self.folder / f"{unit.name}.nc"

    def has(self, unit: Unit) -> bool:
        """Whether the run exists, is complete, and was made with these settings."""
        return read_attributes(self.path(unit)).get("unit_digest") == unit.digest

    def keep(self, unit: Unit, content: bytes) -> None:
        """Write a finished run; its file is never incomplete."""
        with replacing(self.path(unit)) as temporary:
            temporary.write_bytes(content)

    def scores(self, unit: Unit) -> dict[str, float]:
        """The errors of a finished run; empty if it does not exist."""
        attrs = read_attributes(self.path(unit))
        return json.loads(attrs["scores"]) if attrs.get("unit_digest") == unit.digest else {}

    def trace(self, unit: Unit) -> InferenceData:
        """The trace of a finished run."""
        return read_trace(self.path(unit))
