"""Arrivals of organs, each with a few candidates to choose from: decisions before the choice."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.environments.liver_cohort import synthesise
from icb_pymc.environments.optn import prepare
from icb_pymc.errors import InputError

Z_LIMIT = 5.0
MAX_ROUNDS = 1_000

PairFeatures = Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Standardisation:
    """Means and standard deviations that convert features to z-scores.

    Attributes
    ----------
    mean, scale : pd.Series
        Mean and standard deviation of each feature.
    """

    mean: pd.Series
    scale: pd.Series

    @classmethod
    def of(cls, features: pd.DataFrame) -> Self:
        """Compute means and standard deviations over the rows of a table of features."""
        for feature in features:
            values = features[feature].to_numpy()
            if not np.isfinite(values).all():
                raise InputError(
                    f"transplants, column {feature}: a value is missing; drop such rows, as `prepare` does."
                )
            if np.ptp(values) == 0:
                raise InputError(
                    f"transplants, column {feature}: all values are the same, so it cannot be standardised; "
                    "give more transplants."
                )
        return cls(features.mean(), features.std(ddof=0))

    def z(self, features: pd.DataFrame) -> np.ndarray:
        """Standardise, one column per feature."""
        return ((features - self.mean) / self.scale).to_numpy()

    def within_limit(self, features: pd.DataFrame) -> np.ndarray:
        """Whether every feature of a row is within five standard deviations, for each row."""
        return np.all(abs(self.z(features)) <= Z_LIMIT, axis=1)


@lru_cache(maxsize=1)
def default_transplants() -> pd.DataFrame:
    """The transplants of the default synthetic cohort; the table is shared, so do not modify it."""
    return prepare(synthesise()).transplants


def draw_arrivals(transplants: pd.DataFrame, features: PairFeatures, steps: int, actions: int, seed: int) -> xr.Dataset:
    """Pair organs and candidates drawn at random, and standardise the features of the pairs.

    Each arrival is a donor and ``actions`` distinct recipients, all drawn uniformly and with replacement
    between arrivals. Means and standard deviations are those of the pairs that were really matched. Transplants
    more than five standard deviations from the mean in some feature are left out; an arrival with such a
    pair is drawn again.

    Parameters
    ----------
    transplants : pd.DataFrame
        Transplants from `optn.prepare`.
    features : PairFeatures
        From recipients and donors, row by row, to their features x.
    steps : int
        Number of arrivals T.
    actions : int
        Number of candidates per arrival.
    seed : int
        The same seed gives the same arrivals.
    """
    if steps < 1:
        raise InputError(f"steps must be at least 1, not {steps}.")
    matched = features(transplants, transplants)
    standardisation = Standardisation.of(matched)
    pool = transplants[standardisation.within_limit(matched)]
    if not 2 <= actions <= len(pool):
        raise InputError(
            f"actions must be between 2 and the number of usable transplants ({len(pool)}), not {actions}."
        )

    rng = np.random.default_rng(seed)
    context = np.empty((steps, actions, matched.shape[1]))
    filled = 0
    for _ in range(MAX_ROUNDS):
        missing = steps - filled
        donors = np.repeat(rng.integers(len(pool), size=missing), actions)
        recipients = _draw_distinct(rng, len(pool), (missing, actions)).ravel()
        pairs = standardisation.z(features(pool.iloc[recipients], pool.iloc[donors])).reshape(missing, actions, -1)
        usable = pairs[(abs(pairs) <= Z_LIMIT).all(axis=(1, 2))]
        context[filled : filled + len(usable)] = usable
        filled += len(usable)
        if filled == steps:
            break
    else:
        raise InputError(
            f"transplants: too few pairs are within {Z_LIMIT:g} standard deviations; give more transplants."
        )

    return xr.Dataset(
        {
            "context": (("time", "action", "feature"), context),
            "available": (("time", "action"), np.ones((steps, actions), dtype=bool)),
            "feature_mean": ("feature", standardisation.mean.to_numpy()),
            "feature_scale": ("feature", standardisation.scale.to_numpy()),
        },
        coords={
            "time": np.arange(1, steps + 1, dtype=np.int64),
            "action": np.arange(actions),
            "feature": np.array(matched.columns, dtype=str),
        },
        attrs={"synthetic": int(transplants.attrs.get("synthetic", False)), "seed": seed},
    )


def _draw_distinct(rng: np.random.Generator, population: int, shape: tuple[int, int]) -> np.ndarray:
    """Draw rows of distinct integers below ``population``, uniformly."""
    drawn = np.empty(shape, dtype=np.int64)
    for column in range(shape[1]):
        # A rank among the integers not yet drawn, shifted past each drawn one in ascending order.
        pick = rng.integers(population - column, size=shape[0])
        for earlier in np.sort(drawn[:, :column], axis=1).T:
            pick += pick >= earlier
        drawn[:, column] = pick
    return drawn
