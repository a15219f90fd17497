"""What is kept of each draw: which variables, at which times, with how many digits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.results.kept_times import check_dtype, positions_to_keep, spread_positions
from icb_pymc.sample.learner_beliefs import LearntBeliefs, learnt_belief

LATENTS = ("rho", "reward", "reward_unobserved")
# Draws of paths over time larger than this are thinned unless it is said which times to keep: 500 times of eight
# weights in 4,000 draws of float32, more than a figure can show, and small enough to be read in a moment.
MOST_BYTES = 64_000_000
# At least so many times are kept, however many draws there are.
LEAST_TIMES = 50
# What names of variables begin with that are recorded at some times only, or rounded.
KEPT = "kept_"
# Noise that rho and rewards may be declared by: once the likelihood is computed it adds nothing to them.
NOISE = ("rho_noise", "reward_noise")
# Quantities of the model that are small enough to be always kept: numbers, and a number for each agent.
SMALL_DIMS: tuple[tuple[str, ...], ...] = ((), ("agent",))


class KeptDraws:
    """What a fit keeps.

    Parameters
    ----------
    decisions : Dataset
    every : int, optional
        Keep every n-th time.
    times : sequence, optional
        Keep these times instead, written as in the decisions. If neither is given all times are kept, or as many,
        evenly spaced from the first to the last, as take `MOST_BYTES`.
    dtype : {"float64", "float32"}
        Type of the draws.
    latents : bool
        Keep rho and the rewards too.
    draws : int
        How many draws the fit makes, of all chains.
    whole_first : bool
        Whether all times are recorded while sampling even if fewer are kept in the end, for what needs them all.
    """

    def __init__(
        self,
        decisions: xr.Dataset,
        every: int | None,
        times: Sequence[Any] | None,
        dtype: str,
        latents: bool,
        draws: int = 1,
        whole_first: bool = False,
    ) -> None:
        check_dtype(dtype)
        self._all_times = decisions["time"].values
        self._features = decisions.sizes["feature"]
        if every is None and times is None:
            per_time = draws * self._features * np.dtype(dtype).itemsize * (2 if latents else 1)
            self._final = spread_positions(len(self._all_times), max(MOST_BYTES // per_time, LEAST_TIMES))
        else:
            self._final = positions_to_keep(self._all_times, 1 if every is None else every, times)
        self.index = np.arange(len(self._all_times)) if whole_first else self._final
        self.dtype, self.latents = dtype, latents
        self.all_times = len(self.index) == len(self._all_times)
        self.is_plain = self.all_times and dtype == "float64"

    def declare(self, model: pm.Model) -> list[str]:
        """Names of the variables to record; thinned or rounded ones are added to the model under new names."""
        wanted = [rv for rv in model.free_RVs if self.latents or rv.name != "rho"]
        derived = ("belief", "rho_env", "rho", "reward") if self.latents else ("belief", "rho_env")
        # The beliefs of a learner are computed later: their scan takes too long to be run at every draw.
        later = () if learnt_belief(model) is None else ("belief",)
        wanted += [rv for rv in model.deterministics if rv.name in derived and rv.name not in later]
        wanted += [rv for rv in model.deterministics if rv not in wanted and _is_small(model, rv)]
        if self.is_plain:
            return [variable.name for variable in wanted]
        model.add_coord("kept_time", self.times)
        names = []
        with model:
            for variable in wanted:
                dims = model.named_vars_to_dims.get(variable.name) or ()
                # Beliefs of a learner are computed from all of its rewards, later.
                if dims[:1] == ("time",) and variable.name != "reward":
                    kept = variable if self.all_times else variable[self.index]
                    kept = pt.cast(kept, self.dtype) if np.dtype(variable.dtype).kind == "f" else kept
                    pm.Deterministic(f"{KEPT}{variable.name}", kept, dims=("kept_time", *dims[1:]))
                    names.append(f"{KEPT}{variable.name}")
                else:
                    names.append(variable.name)
        return names

    @property
    def weights_of_decisions(self) -> int:
        """Number of weights of all decisions: times x features."""
        return len(self._all_times) * self._features

    @property
    def final(self) -> np.ndarray:
        """Positions of the times that are kept in the end."""
        return self._final

    @property
    def times(self) -> np.ndarray:
        """The times that are kept."""
        return self._all_times[self.index]

    def bytes_per_draw(self, model: pm.Model) -> int:
        """Memory that one draw needs; call it before `declare`."""
        shapes, total = model.eval_rv_shapes(), 0
        for rv in model.free_RVs:
            if self.latents or rv.name != "rho":
                dims = model.named_vars_to_dims.get(rv.name) or ()
                is_thinned = "time" in dims and rv.name != "reward" and not self.is_plain
                share = len(self.index) / len(self._all_times) if is_thinned else 1.0
                total += int(np.prod(shapes[rv.name]) * share) * (np.dtype(self.dtype).itemsize if is_thinned else 8)
        if "belief" not in [rv.name for rv in model.free_RVs]:
            total += len(self.index) * self._features * np.dtype(self.dtype).itemsize
        return total

    def finish(self, posterior: xr.Dataset, learnt: LearntBeliefs | None) -> xr.Dataset:
        """The posterior under the model's names at the times kept, with beliefs that were computed after sampling."""
        names = {name: str(name).removeprefix(KEPT) for name in posterior.data_vars}
        posterior = posterior.rename({old: new for old, new in names.items() if old != new})
        if not self.latents:
            posterior = posterior.drop_vars(LATENTS, errors="ignore")
        elif not self.is_plain and "reward" in posterior:
            reward = posterior["reward"].isel(time=self.index).astype(self.dtype).drop_vars("time")
            posterior = posterior.drop_vars("reward").assign(reward=reward.rename(time="kept_time"))
        if not self.is_plain:
            posterior = posterior.drop_dims("time", errors="ignore")
            posterior = posterior.rename({dim: "time" for dim in posterior.dims if dim == "kept_time"})
        if learnt is not None:
            posterior = posterior.assign(belief=(("chain", "draw", "time", "feature"), learnt.belief))
            if learnt.final_belief is not None:
                posterior = posterior.assign(
                    final_belief=(("chain", "draw", "feature"), learnt.final_belief),
                    share_learnt=(("chain", "draw"), learnt.share_learnt),
                )
        return posterior.assign_coords({"time": self.times}) if "time" in posterior.dims else posterior

    def at_final_times(self, posterior: xr.Dataset) -> xr.Dataset:
        """The posterior at the times that are kept in the end.

        Its coordinate `position` says where each of them is among the decisions.
        Times alone do not say that where several decisions were made at the same time. A model that has something
        called `position` keeps that instead.
        """
        if "time" in posterior.dims and len(self._final) < len(self.index):
            posterior = posterior.isel(time=self._final)
        if "time" not in posterior.dims or "position" in {*posterior.variables, *posterior.dims}:
            return posterior
        return posterior.assign_coords(position=("time", self._final))


def _is_small(model: pm.Model, variable: Any) -> bool:
    dims = tuple(model.named_vars_to_dims.get(variable.name) or ())
    return dims in SMALL_DIMS and variable.type.ndim == len(dims)
