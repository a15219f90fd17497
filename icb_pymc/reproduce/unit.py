"""The description of a run: everything that determines its result, and nothing else."""

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
    """The description of a run: an algorithm on a log.

    Attributes
    ----------
    log : Log
    algorithm : Algorithm
    preset : {"exact", "paper"}
    sampling : tuple of (name, value)
        Options of `fit`, such as draws.
    kept : (int, int)
        Draws and times that are kept, see `Scale`.
    version : str
        Version of the package.
    """

    log: Log
    algorithm: Algorithm
    preset: str
    sampling: tuple[tuple[str, Any], ...]
    kept: tuple[int, int]
    version: str = __version__

    @property
    def name(self) -> str:
        """A readable name for files, e.g. ``sampling_nb-icb_exact_seed-0``; it does not depend on other settings."""
        return f"{self.log.name}_{self.algorithm.slug}_{self.preset}_seed-{self.log.seed}"

    @property
    def description(self) -> str:
        """All fields as JSON; files are described by their contents, not by their paths."""
        fields = asdict(self)
        del fields["log"]["file"]
        # Left out if absent, so that runs from before user-defined models were supported are still recognised.
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
        """The seed of the sampler. It depends only on the name: not on jobs, order or version."""
        return crc32(self.name.encode())


def make_unit(row: str | Algorithm, log: Log, preset: str, scale: Scale) -> Unit:
    """The run on `log` of an algorithm of the paper, given by its label, or of a user-defined one."""
    chosen = row if isinstance(row, Algorithm) else algorithm(row, preset, log)
    sampling = _sampling(chosen, preset, scale) if chosen.is_sampled else {}
    kept = scale.long_kept if log.agent in EITHER_SIGN else scale.kept
    return Unit(log, chosen, preset, tuple(sorted(sampling.items())), kept)


def in_order(units: Iterable[Unit]) -> list[Unit]:
    """Units in the order in which to run them, without duplicates (tables share some).

    All units of one seed come before those of the next, so that a reproduction that is stopped early has a run in every
    cell of a table. Within a seed, units on the same log are adjacent, and long logs come first, so that no long run is
    left for the end.
    """
    return sorted(dict.fromkeys(units), key=lambda unit: (unit.log.seed, -unit.log.steps, unit.log.name))


def _sampling(chosen: Algorithm, preset: str, scale: Scale) -> dict[str, Any]:
    if chosen.file_digest is not None:
        return scale.exact_learning
    if preset == "paper":
        return scale.paper
    return scale.exact_learning if chosen.model in LEARNING else scale.exact
