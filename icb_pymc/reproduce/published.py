"""The numbers that the paper reports, for comparison with ours."""

from functools import lru_cache
from importlib.resources import as_file, files

import pandas as pd


@lru_cache(maxsize=1)
def published() -> pd.DataFrame:
    """Mean and standard deviation (`mean`, `sd`) by table, algorithm and agent."""
    with as_file(files("icb_pymc.reproduce") / "published.csv") as path:
        return pd.read_csv(path, comment="#").set_index(["table", "algorithm", "agent"])
