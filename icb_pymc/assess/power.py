"""Which change could this log have shown? Simulated choices among its own candidates, with a step of known size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from rich.progress import track

from icb_pymc.assess.accounts import compare_accounts, unchanging_weights, verdict_on
from icb_pymc.assess.event_windows import Event, known_features, windows_around
from icb_pymc.assess.weights import feature_sd, mean_lapse
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import decisions_in
from icb_pymc.sample.seeds import only_seed

SIZES = (0.2, 0.4, 0.8)
# A size that is found this often is one that the log could have shown.
ENOUGH = 0.8
# Draws of the step in each simulated log: enough for "clear" with dozens of features.
DRAWS = 2000


@dataclass(frozen=True)
class Power:
    """Result of `power`; print it for a summary.

    Attributes
    ----------
    event : Event
    table : DataFrame
        A row for each feature and size of the step, in log-odds per standard deviation: `clear`, the share of simulated
        logs in which a change in the right direction is called clear, and `standard_error`. Size 0 is a false alarm.
    replicates : int
        Simulated logs per row.
    """

    event: Event
    table: pd.DataFrame
    replicates: int

    def __str__(self) -> str:
        shares = self.table["clear"].unstack("size")
        before, after = self.event.decisions
        lines = [
            f"How often a step at {self.event.name} would be called clear, by {before} decisions before and {after} "
            f"after ({self.replicates} simulated logs each):",
            "",
            shares.map("{:.0%}".format).rename_axis("step, log-odds per sd", axis=1).to_string(),
            "",
        ]
        for feature, row in shares.iterrows():
            sizes = np.asarray(row.index, dtype=float)
            enough = sizes[(sizes > 0) & (row.to_numpy() >= ENOUGH)]
            said = f"a step of {enough.min():g} would" if len(enough) else f"not even a step of {sizes.max():g} would"
            lines.append(f"- {feature}: {said} be found in at least {ENOUGH:.0%} of such logs.")
        return "\n".join(lines)

    def records(self) -> list[dict[str, Any]]:
        """The table as a list of plain dictionaries, for JSON."""
        return [
            {str(name): value for name, value in row.items()} for row in self.table.reset_index().to_dict("records")
        ]


def power(
    log: xr.Dataset | InferenceData,
    event: Any,
    *,
    features: Sequence[str] | None = None,
    sizes: Sequence[float] = SIZES,
    before: Any = None,
    after: Any = None,
    replicates: int = 20,
    random_seed: int | None = None,
    progressbar: bool = False,
    seed: int | None = None,
) -> Power:
    """How often a step of a given size at an event would be called clear, by simulation from the log's own candidates.

    Choices among the candidates of the log are simulated with the weights of an agent that never changes, fitted to the
    log, plus a step of one feature's weight at the event; each simulated log gets the verdict that `impact` gives. A
    log that would not show a relevant change cannot show that there was none.

    Parameters
    ----------
    log : Dataset or InferenceData
        Decisions, or a trace that contains them.
    event : date or int
        When the step happens.
    features : sequence of str, optional
        Those to ask about, one at a time; all by default.
    sizes : sequence of float
        Sizes of the step in log-odds per standard deviation of the feature. Steps go away from zero.
    before, after : str or int, optional
        Lengths of the windows, as in `icb_pymc.impact`.
    replicates : int
        Simulated logs for each feature and size.
    random_seed : int, optional
        Same seed, same result; 0 by default. `seed` is accepted too.
    progressbar : bool
        Show one.
    seed : int, optional
        Another name of `random_seed`.

    Returns
    -------
    Power

    Raises
    ------
    InputError
        If there is no such feature, the event lies outside the decisions, one side of it has fewer than ten decisions,
        or a size is negative.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> context = rng.normal(size=(200, 2, 1))
    >>> decisions = icb_pymc.from_arrays(context, rng.integers(2, size=200), features=["price"])
    >>> result = icb_pymc.power(decisions, 101, sizes=[3.0], replicates=3)
    >>> result.table.loc[("price", 3.0), "clear"]
    np.float64(1.0)
    """
    random_seed = only_seed(random_seed, seed) or 0
    decisions = log if isinstance(log, xr.Dataset) else decisions_in(log)
    if replicates < 1:
        raise InputError(f"replicates={replicates}: give at least one.")
    for size in sizes:
        if not (np.isfinite(size) and size >= 0):
            raise InputError(f"sizes={size}: give zero or positive steps, in log-odds per standard deviation.")
    names = known_features(decisions["feature"].values, features)
    (window,) = windows_around(decisions["time"].values, event, before, after)
    first, at, end = (
        int(i) for i in np.searchsorted(decisions["time"].values, [window.start, window.time, window.end])
    )
    inside = decisions.isel(time=slice(first, end))
    lapse = 0.0 if isinstance(log, xr.Dataset) else mean_lapse(log)
    sd, weights = feature_sd(decisions).values, unchanging_weights(inside, lapse)
    every = [str(name) for name in decisions["feature"].values]
    cells = [(name, float(size)) for name in names for size in sizes]
    found: dict[tuple[str, float], list[bool]] = {cell: [] for cell in cells}
    runs = [(cell, replicate) for cell in cells for replicate in range(replicates)]
    for (name, size), replicate in track(runs, "simulated logs", disable=not progressbar, transient=True):
        column = every.index(name)
        rng = np.random.default_rng([random_seed, column, round(1e6 * size), replicate])
        step = np.zeros(len(every))
        # A feature in which candidates do not differ has no standard deviation, and no step of it can be seen.
        direction = 1.0 if weights[column] >= 0 else -1.0
        step[column] = direction * size / sd[column] if sd[column] > 0 else 0.0
        simulated = _simulated(inside, weights, step, at - first, lapse, rng)
        account = compare_accounts(simulated, at - first, lapse=lapse, draws=DRAWS, random_seed=replicate)
        change = account.draws["after"][:, column] - account.draws["before"][:, column]
        is_clear = verdict_on(change, account, questions=len(names)) == "clear"
        found[name, size].append(is_clear and (size == 0 or np.sign(change.mean()) == direction))
    rows = {cell: {"clear": np.mean(hits), "standard_error": _standard_error(hits)} for cell, hits in found.items()}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["feature", "size"])
    return Power(window, table, replicates)


def _simulated(
    decisions: xr.Dataset, weights: np.ndarray, step: np.ndarray, at: int, lapse: float, rng: np.random.Generator
) -> xr.Dataset:
    """The decisions with choices by softmax of these weights, and of weights + step from `at` on, or lapses."""
    context = decisions["context"].values
    path = weights + step * (np.arange(len(context)) >= at)[:, None]
    utility = (context * path[:, None, :]).sum(axis=-1)
    if lapse > 0:
        utility[rng.random(len(utility)) < lapse] = 0.0
    utility = utility + rng.gumbel(size=context.shape[:2])
    chosen = np.where(decisions["available"].values.astype(bool), utility, -np.inf).argmax(axis=1)
    return decisions.assign(chosen=("time", chosen))


def _standard_error(hits: Sequence[bool]) -> float:
    """Of a share; half a hit is added either way, so that it is not zero where all or none were found."""
    share = (sum(hits) + 0.5) / (len(hits) + 1)
    return float(np.sqrt(share * (1 - share) / len(hits)))
