"""One seed, called as PyMC calls it or shorter."""

from icb_pymc.errors import InputError


def only_seed(random_seed: int | None, seed: int | None) -> int | None:
    """The seed that was given under either name.

    Raises
    ------
    InputError
        If both were given.

    Examples
    --------
    >>> only_seed(None, 3)
    3
    """
    if random_seed is not None and seed is not None:
        raise InputError("random_seed and seed are two names of one option: give one of them.")
    return seed if random_seed is None else random_seed
