"""How the samplers take many features, and many candidates."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

# How the log is drawn, and what is drawn of its posterior.
SEED, TUNE, DRAWS = 0, 200, 200
# Total movement and first scale of the weights that make the choices, in log-odds.
MOVEMENT, START = 1.0, 1.5


def wide_table(steps: int, features: Sequence[int], actions: Sequence[int]) -> Iterator[str]:
    """CPU milliseconds of a draw, effective draws per second and seconds of Laplace's method, as problems widen."""
    from icb_pymc.sample.quiet import quiet_pymc

    yield f"NB-ICB with its defaults, T = {steps}: CPU time of a draw of the engine, with hyperparameters; one core;"
    yield f"worst ESS of beliefs per CPU second, from two chains of {DRAWS}; Laplace's method with 1,000 draws"
    yield f"{'k':>4}{'A':>4}{'rows':>9}{'ms/draw':>9}{'us/(row k)':>12}{'steps':>7}{'ESS/s':>8}{'laplace s':>11}"
    with quiet_pymc():
        # A first fit before anything is timed, since it compiles kernels.
        _measure(wide_log(20, 2, 3))
        for count, most in [*((k, 2) for k in features), *((8, a) for a in actions)]:
            decisions = wide_log(steps, count, most)
            rows = int(decisions["available"].sum()) - steps
            one = _measure(decisions)
            yield (
                f"{count:>4}{most:>4}{rows:>9}{1e3 * one['draw']:>9.2f}{1e6 * one['draw'] / (rows * count):>12.3f}"
                f"{one['steps']:>7.1f}{one['rate']:>8.0f}{one['laplace']:>11.2f}"
            )


def wide_log(steps: int, features: int, actions: int) -> xr.Dataset:
    """Decisions between two candidates and at most so many, by weights that are random walks."""
    from icb_pymc.data.decisions import from_arrays

    rng = np.random.default_rng([SEED, features, actions])
    contexts = rng.standard_normal((steps, actions, features))
    moves = rng.standard_normal((steps, features)) * MOVEMENT / np.sqrt(steps)
    moves[0] = START * rng.standard_normal(features)
    # With more features each of them counts less, as in logs of real choices.
    weights = moves.cumsum(axis=0) / np.sqrt(features)
    counts = rng.integers(2, actions + 1, steps)
    available = np.arange(actions) < counts[:, None]
    utility = np.einsum("taf,tf->ta", contexts, weights) + rng.gumbel(size=(steps, actions))
    chosen = np.where(available, utility, -np.inf).argmax(axis=1)
    return from_arrays(np.where(available[:, :, None], contexts, 0.0), chosen, available=available)


def _measure(decisions: xr.Dataset) -> dict[str, float]:
    from icb_pymc.assess.convergence import bulk_ess
    from icb_pymc.results.inference_data import group
    from icb_pymc.sample.fitting import fit
    from icb_pymc.steps.utility_hmc import UtilityHMC

    every = max(1, decisions.sizes["time"] // 100)
    options: dict[str, Any] = {"every": every, "log_likelihood": False, "progressbar": False, "seed": 0}
    spent: list[float] = []
    step = UtilityHMC.step

    def timed(self: UtilityHMC, point: Any) -> Any:
        started = time.process_time()
        made = step(self, point)
        if not self.tune:
            spent.append(time.process_time() - started)
        return made

    UtilityHMC.step = timed  # type: ignore[method-assign]
    try:
        trace = fit("nb_icb", decisions, draws=DRAWS, tune=TUNE, chains=2, cores=1, **options)
    finally:
        UtilityHMC.step = step  # type: ignore[method-assign]
    started = time.process_time()
    fit("nb_icb", decisions, method="laplace", **options)
    laplace = time.process_time() - started
    return {
        "draw": float(np.mean(spent)),
        "rate": float(bulk_ess(group(trace, "posterior")["belief"]).min()) / sum(spent),
        "steps": float(group(trace, "sample_stats")["hmc_steps"].mean()),
        "laplace": laplace,
    }
