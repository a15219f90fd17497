"""The catalogue: one file is one declared model, read top to bottom like the paper's equations."""

from . import agents
from .nb_icb import nb_icb

__all__ = ["agents", "nb_icb"]
