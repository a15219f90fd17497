"""The simulated decision-makers of the paper, each declared as a PyMC model and simulated by PyMC."""

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
