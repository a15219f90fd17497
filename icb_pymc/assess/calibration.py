"""Whether inference with a declared model is right: its requirements, then simulation-based calibration.

Data that a model simulates are given to its own inference. If that is right, the true value is equally likely to have
any rank among the posterior draws (Talts et al., 2018). simuk, the calibration library of the ArviZ project, cannot be
used here: it draws data from the graph of inference, where the contexts that a learner saw are those of choices already
made, and it compiles each replicate.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from rich.progress import track

from icb_pymc.assess.convergence import mean_ess
from icb_pymc.assess.model_requirements import declare_both, requirement_problems, small_arrivals
from icb_pymc.assess.rank_uniformity import describe_departure, uniform_p_values
from icb_pymc.assess.sbc_replicates import KEPT, Replicates
from icb_pymc.catalogue.lookup import find, name_of, settings
from icb_pymc.declare.spec import Declare
from icb_pymc.errors import InputError
from icb_pymc.io.forks import in_forks
from icb_pymc.io.machine import usable_cores
from icb_pymc.sample.quiet import quiet_pymc
from icb_pymc.sample.seeds import only_seed

# A correct model is reported as wrong once in a hundred checks.
LEVEL = 0.01


@dataclass(frozen=True)
class Check:
    """Result of `check`; print it for a summary.

    Attributes
    ----------
    model : str
    problems : tuple of str
        What is wrong with the declaration; if there is anything, calibration is not attempted.
    relative_ranks : DataFrame (replicate, quantity), optional
        Rank of the true value among the posterior draws, from 0 to 1: uniform if inference is right.
    table : DataFrame, optional
        By quantity: `p_value` of uniformity, `ess` of the draws of a replicate, `verdict` in words.
    wrong : list of str
        Quantities that are not calibrated.
    passed : bool
        Whether nothing is wrong.
    """

    model: str
    problems: tuple[str, ...]
    relative_ranks: pd.DataFrame | None = None
    table: pd.DataFrame | None = None

    @property
    def wrong(self) -> list[str]:
        """Quantities that are not calibrated."""
        if self.table is None:
            return []
        return list(self.table.index[self.table["p_value"] < LEVEL / len(self.table)])

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems and not self.wrong

    def __str__(self) -> str:
        if self.problems:
            return "\n".join([f"'{self.model}' is wrong:", *(f"- {problem}" for problem in self.problems)])
        if self.table is None or self.relative_ranks is None:
            return f"'{self.model}' meets the requirements; nothing is unknown, so there is nothing to calibrate."
        formats = {"p_value": "{:.3f}".format, "ess": "{:.0f}".format}
        shown = self.table[list(formats)].to_string(formatters=formats)
        count = len(self.relative_ranks)
        lines = [f"'{self.model}' meets the requirements; {count} replicates of its own data", "", shown, ""]
        slow = self.table.index[self.table["ess"] < KEPT / 2]
        if len(slow):
            lines.append(
                f"draws of {slow[0]} are autocorrelated (ESS {self.table['ess'][slow[0]]:.0f}): use more draws."
            )
        if self.wrong:
            lines.append("wrong: inference does not agree with the simulation")
            lines += [f"- {quantity}: {self.table['verdict'][quantity]}" for quantity in self.wrong]
        else:
            lines.append("right: inference agrees with the simulation")
        return "\n".join(lines)


def check(
    model: str | Path | Declare,
    hyperparameters: Mapping[str, Any] | None = None,
    *,
    replicates: int = 50,
    steps: int = 25,
    actions: int = 2,
    agents: int = 0,
    sessions: int = 0,
    observed_rewards: bool = False,
    draws: int | None = None,
    random_seed: int | None = None,
    jobs: int | None = None,
    progressbar: bool = False,
    seed: int | None = None,
) -> Check:
    """Check a model: whether it meets the requirements of the suite, and whether its inference is calibrated.

    The model simulates decisions, and its inference is applied to them (simulation-based calibration).

    Parameters
    ----------
    model : str, path or callable
        As in `icb_pymc.fit`. It must be a model that can be simulated.
    hyperparameters : mapping, optional
        Keyword arguments of the model.
    replicates : int
        Logs to simulate and infer from.
    steps : int
        Decisions in each, between candidates of three features.
    actions : int
        Candidates of each decision.
    agents : int
        Agents that decide in turn; by default it is not said who decides.
    sessions : int
        Sessions of each log, in which all agents decide; by default there are none.
    observed_rewards : bool
        Whether the logs contain all rewards.
    draws : int, optional
        Posterior draws from each log; by default 400 with this package's own steps, and 200 with NUTS, whose draws are
        less autocorrelated.
    random_seed : int, optional
        Same seed, same result, whatever the number of jobs. `seed` is accepted too.
    jobs : int, optional
        Processes; by default as many as there are cores.
    progressbar : bool
        Show one.
    seed : int, optional
        Another name of `random_seed`.

    Returns
    -------
    Check

    Raises
    ------
    InputError
        If the model or a hyperparameter is unknown, or a number is too small. What is wrong with a model is not raised,
        but returned.

    Examples
    --------
    >>> import icb_pymc
    >>> print(icb_pymc.check("uniform"))
    'uniform' meets the requirements; nothing is unknown, so there is nothing to calibrate.
    >>> result = icb_pymc.check("b_irl", replicates=100)  # doctest: +SKIP
    >>> result.passed  # doctest: +SKIP
    True
    """
    for name, value, least in (
        ("replicates", replicates, 10),
        ("steps", steps, 3),
        ("actions", actions, 2),
        ("draws", draws or KEPT, KEPT),
    ):
        if value < least:
            raise InputError(f"{name}={value}: give at least {least}.")
    declare = find(model)
    given, random_seed = dict(hyperparameters or {}), only_seed(random_seed, seed) or 0
    settings(declare, given)
    arrivals = small_arrivals(steps, actions, seed=random_seed, agents=agents, sessions=sessions)
    declared, problems = declare_both(
        declare, name_of(declare), arrivals, replicates, random_seed, observed_rewards=observed_rewards, **given
    )
    if declared is not None and not problems:
        problems = requirement_problems(declared)
    if declared is None or problems:
        return Check(name_of(declare), tuple(problems))
    if not declared.inferred.free_RVs:
        return Check(name_of(declare), ())
    work = Replicates(declare, declared, arrivals, draws, random_seed, given, observed_rewards)
    with quiet_pymc():
        results = list(_run(work, name_of(declare), replicates, jobs or usable_cores(), progressbar))
    ranks = pd.DataFrame([ranks for ranks, _ in results]).rename_axis("replicate")
    ess = pd.DataFrame([sizes for _, sizes in results]).median()
    p_values = uniform_p_values(ranks.to_numpy())
    verdicts = [describe_departure(ranks[quantity].to_numpy()) for quantity in ranks]
    table = pd.DataFrame({"p_value": p_values, "ess": ess, "verdict": verdicts}, index=ranks.columns)
    return Check(name_of(declare), (), ranks, table.rename_axis("quantity"))


def _run(work: Replicates, name: str, replicates: int, jobs: int, progressbar: bool) -> Iterator[tuple[Any, Any]]:
    """All replicates, in order; processes are forked, so that everything is compiled only once."""
    show = partial(
        track, description=f"calibration of {name}", total=replicates, disable=not progressbar, transient=True
    )
    if jobs > 1:
        work.prepare()
    yield from show(in_forks(partial(_one, work), range(replicates), min(jobs, replicates)))


def _one(work: Replicates, replicate: int) -> tuple[dict[str, float], dict[str, float]]:
    truth, draws = work.infer(replicate)
    rng = np.random.default_rng([work.seed, replicate])
    stacked = xr.DataArray(np.stack(list(draws.values()), axis=-1)[None], dims=("chain", "draw", "quantity"))
    sizes = dict(zip(draws, mean_ess(stacked).values, strict=True))
    ranks = {}
    for quantity, values in draws.items():
        kept = values[np.linspace(0, len(values) - 1, KEPT).round().astype(int)]
        below, equal = (kept < truth[quantity]).sum(), (kept == truth[quantity]).sum()
        # A random point between two draws, so that the relative rank is exactly uniform, not only nearly so.
        ranks[quantity] = (below + rng.random() * (equal + 1)) / (KEPT + 1)
    return ranks, sizes
