"""Several sweeps over a list of steps for each recorded draw."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pymc.step_methods.compound import BlockedStep, CompoundStep

from icb_pymc.declare.graph import Point


class Sweep(CompoundStep):
    """Apply steps in turn, `sweeps` times for each recorded draw: thinning that does not store the discarded draws.

    Statistics are averaged over the sweeps.
    """

    def __init__(self, methods: Sequence[BlockedStep], sweeps: int = 1) -> None:
        super().__init__(methods)
        if sweeps < 1:
            raise ValueError(f"sweeps={sweeps}: make at least one sweep per draw.")
        self.sweeps = sweeps

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Make the sweeps."""
        records = []
        for _ in range(self.sweeps):
            point, stats = super().step(point)
            records.append(stats)
        averaged = [
            {name: np.mean([record[i][name] for record in records]) for name in stats} for i, stats in enumerate(stats)
        ]
        return point, averaged
