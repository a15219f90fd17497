"""A run described: everything that determines its result, and nothing that does not."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any
from zlib import crc32

from icb_pymc import __version__
from icb_pymc.reproduce.algorithms import EITHER_SIGN, LEARNING, Algorithm, algorithm
from icb_pymc.reproduce.log import Log
from icb_pymc.reproduce.scale import Scale


@dataclass(frozen=True)
class Unit:
    """An algorithm on a log.

    Attributes
    ----------
    log : Log
    algorithm : Algorithm
    preset : {"exact", "paper"}
    sampling : tuple of (name, value)
        Given to `fit`: draws and the like.
    kept : (int, int)
        Draws and times that are kept, see `Scale`.
    version : str
        Of the package.
    """

    log: Log
    algorithm: Algorithm
    preset: str
    sampling: tuple[tuple[str, Any], ...]
    kept: tuple[int, int]
    version: str = __version__

    @property
    def name(self) -> str:
        """For people and file names, e.g. ``sampling_nb-icb_exact_seed-0``; the same under other settings."""
        label = self.algorithm.label.lower().replace(" ", "-")
        return f"{self.log.name}_{label}_{self.preset}_seed-{self.log.seed}"

    @property
    def description(self) -> str:
        """All of it as JSON; of a file its contents count, not where it lies."""
        fields = asdict(self)
        del fields["log"]["file"]
        # What is not there is not told, so that runs described before there were such models are still known.
        if fields["algorithm"]["file_digest"] is None:
            del fields["algorithm"]["file_digest"]
        else:
            del fields["algorithm"]["model"]
        return json.dumps(fields, sort_keys=True)

    @property
    def digest(self) -> str:
        """A short hash of the description."""
        return sha256(self.description.encode()).hexdigest()[:16]

    @property
    def seed(self) -> int:
        """For the sampler, from the unit's name alone: neither jobs nor order nor version matter."""
        return crc32(self.name.encode())


def make_unit(label: str | Algorithm, log: Log, preset: str, scale: Scale) -> Unit:
    """The run of the algorithm called `label`, or of one's own, on `log`."""
    runs = label if isinstance(label, Algorithm) else algorithm(label, preset, log)
    sampling = _sampling(runs, preset, scale) if runs.is_sampled else {}
    kept = scale.long_kept if log.agent in EITHER_SIGN else scale.kept
    return Unit(log, runs, preset, tuple(sorted(sampling.items())), kept)


def in_order(units: Iterable[Unit]) -> list[Unit]:
    """Units as they are best done, each once, for tables share some.

    Those of one seed come before those of the next, so that what is stopped early has a run in every cell of a table.
    Of these, those on one log come after each other, and long logs first, so that none is waited for at the end.
    """
    return sorted(dict.fromkeys(units), key=lambda unit: (unit.log.seed, -unit.log.steps, unit.log.name))


def _sampling(runs: Algorithm, preset: str, scale: Scale) -> dict[str, Any]:
    if runs.file_digest is not None:
        return scale.exact_learning
    if preset == "paper":
        return scale.paper
    return scale.exact_learning if runs.model in LEARNING else scale.exact
