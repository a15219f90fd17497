"""Columns that count rows or trials: they are numbers, but seldom what a decision-maker looks at."""

import numpy as np
import pandas as pd

# A counter is recognised once it has counted so far; a shorter one could be anything.
SHORTEST_COUNT = 10


def is_counter(column: pd.Series) -> bool:
    """Whether a column goes up by one from row to row, or from 0 or 1 again after its end, as in every session.

    Examples
    --------
    >>> is_counter(pd.Series(range(1, 13))), is_counter(pd.Series([*range(12), *range(11)]))
    (True, True)
    >>> is_counter(pd.Series([1, 2] * 6)), is_counter(pd.Series(range(1, 6)))
    (False, False)
    """
    if not pd.api.types.is_integer_dtype(column) or column.isna().any() or len(column) < SHORTEST_COUNT:
        return False
    values = column.to_numpy(np.int64)
    starts_again = (values[1:] == values[0]) & (values[0] in (0, 1))
    goes_up = values[1:] == values[:-1] + 1
    return bool((goes_up | starts_again).all()) and int(values.max() - values[0]) + 1 >= SHORTEST_COUNT
