"""The simulated decision-makers of the paper, each a PyMC graph that PyMC itself simulates."""

from .greedy import greedy
from .linear import linear
from .optimistic import optimistic
from .regressing import regressing
from .sampling import sampling
from .stationary import stationary
from .stepping import stepping
from .switching import switching

__all__ = [
    "greedy",
    "linear",
    "optimistic",
    "regressing",
    "sampling",
    "stationary",
    "stepping",
    "switching",
]
