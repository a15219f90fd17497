"""The models of the paper: each file declares one, and reads from top to bottom like the paper's equations."""

from . import agents, irl
from .b_icb import b_icb
from .hierarchical_nb_icb import hierarchical_nb_icb
from .nb_icb import nb_icb
from .shrinkage_nb_icb import shrinkage_nb_icb

__all__ = ["agents", "b_icb", "hierarchical_nb_icb", "irl", "nb_icb", "shrinkage_nb_icb"]
