"""Numerical kernels on plain arrays: no PyMC, no input or output, each tested against a dense formula."""

from pathlib import Path

from .compiled import forget_stale, where_kept

forget_stale(Path(__file__).parent, where_kept())
