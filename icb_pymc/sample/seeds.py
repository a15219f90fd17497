"""One seed, called as PyMC calls it or shorter."""

import numpy as np

from icb_pymc.errors import InputError

# Seeds are kept in files, as 64-bit numbers.
LARGEST = 2**63 - 1


def only_seed(random_seed: int | None, seed: int | None) -> int | None:
    """The seed that was given under either name.

    Raises
    ------
    InputError
        If both were given, or the seed is not a whole number that a file can hold.

    Examples
    --------
    >>> only_seed(None, 3)
    3
    """
    if random_seed is not None and seed is not None:
        raise InputError("random_seed and seed are two names of one option: give one of them.")
    given = seed if random_seed is None else random_seed
    if given is not None and not (isinstance(given, (int, np.integer)) and 0 <= given <= LARGEST):
        raise InputError(f"seed={given!r}: give a whole number from 0 to {LARGEST}.")
    return None if given is None else int(given)
