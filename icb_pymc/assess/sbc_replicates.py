"""Inference from logs that a model simulated itself, one after the other, compiling as little as possible."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from pymc.pytensorf import compile as compile_graph

from icb_pymc.assess.model_requirements import Declared, simulated_log, unconstrained, unknowns
from icb_pymc.data.schema import CHOSEN_SLOT, OBSERVED_REWARD
from icb_pymc.declare.spec import Declare, spec_of
from icb_pymc.results.inference_data import begin_chain, group
from icb_pymc.sample.fitting import fit
from icb_pymc.steps.assign import alternating_steps
from icb_pymc.steps.linear_gaussian import find_linear_gaussian

# Draws of a replicate that ranks are computed from, and components of a variable that are checked.
KEPT, MOST = 49, 4
# Posterior draws by default.
DRAWS, NUTS_DRAWS = 400, 200
Quantities = dict[str, np.ndarray]


class Replicates:
    """Logs simulated by a model, and posterior draws from each.

    With NUTS, functions are compiled once and given other choices. With this package's own steps, or if choices enter
    in a way that cannot be changed after the declaration, each log is fitted from scratch.
    """

    def __init__(
        self,
        declare: Declare,
        declared: Declared,
        arrivals: xr.Dataset,
        draws: int | None,
        seed: int,
        hyperparameters: dict[str, Any],
        observed_rewards: bool = False,
    ) -> None:
        self.seed, self._observed_rewards = seed, observed_rewards
        self._declare, self._declared, self._arrivals = declare, declared, arrivals
        self._draws, self._hyperparameters = draws, hyperparameters
        model = declared.inferred
        self._names: list[str] = [
            name for name in ("belief", "rho_env") if name in model.named_vars and name in declared.drawn
        ]
        self._names += [name for name in unknowns(model) if name not in self._names]
        self._nuts: _Nuts | None = None
        self._is_prepared = False

    def prepare(self) -> None:
        """Compile whatever can be compiled in advance."""
        if not self._is_prepared:
            model = self._declared.inferred
            has_steps = spec_of(self._declare).steps is not None or find_linear_gaussian(model) is not None
            if not has_steps and not alternating_steps(model) and self._can_be_given_choices():
                self._nuts = _Nuts(model, self._names, self._draws or NUTS_DRAWS)
            self._is_prepared = True

    def infer(self, replicate: int) -> tuple[dict[str, float], Quantities]:
        """The truth and the posterior draws of every quantity in a replicate."""
        self.prepare()
        decisions = simulated_log(self._arrivals, self._declared.drawn, replicate, self._observed_rewards)
        chosen = decisions["chosen"].values
        truth = {name: self._declared.drawn[name][replicate][None] for name in self._names}
        if self._nuts is not None:
            draws = self._nuts.sample(_data_of(decisions), [self.seed, replicate])
        else:
            draws = self._fit(decisions, replicate)
        true_quantities = self._quantities(truth, chosen)
        return {name: float(value[0]) for name, value in true_quantities.items()}, self._quantities(draws, chosen)

    def _fit(self, decisions: xr.Dataset, replicate: int) -> Quantities:
        seed = int(np.random.SeedSequence([self.seed, replicate]).generate_state(1)[0])
        trace = fit(
            self._declare,
            decisions,
            draws=self._draws or DRAWS,
            chains=1,
            cores=1,
            seed=seed,
            log_likelihood=False,
            # Ranks among draws that were rounded would not be those of the sampler.
            every=1,
            dtype="float64",
            progressbar=False,
            hyperparameters=self._hyperparameters,
        )
        posterior = group(trace, "posterior")
        return {name: posterior[name].values[0] for name in self._names}

    def _quantities(self, values: Quantities, chosen: np.ndarray) -> Quantities:
        """Scalars (draw,): components of unknowns and of beliefs at two times, and how beliefs agree with choices."""
        quantities: Quantities = {}
        for name, array in values.items():
            if name == "belief":
                times = array.shape[1]
                for when, at in (("halfway", times // 2), ("at the end", times - 1)):
                    quantities |= _components(f"belief {when}", array[:, at], self._arrivals["feature"].values)
                context = self._arrivals["context"].values
                taken = context[np.arange(times), chosen] - context.mean(axis=1)
                quantities["belief, as choices show it"] = (array * taken).sum(axis=(1, 2))
            else:
                dims = self._declared.inferred.named_vars_to_dims.get(name) or ()
                labels = self._arrivals["feature"].values if tuple(dims) == ("feature",) else None
                quantities |= _components(name, array, labels)
        return quantities

    def _can_be_given_choices(self) -> bool:
        """Whether a model that is given other choices is the same as the model declared for them."""
        model, drawn = self._declared.inferred, self._declared.drawn["chosen"]
        others = [i for i, row in enumerate(drawn) if not np.array_equal(row, drawn[0])]
        if CHOSEN_SLOT not in model.named_vars or not others:
            return False
        decisions = simulated_log(self._arrivals, self._declared.drawn, others[0], self._observed_rewards)
        point = pm.draw([unconstrained(model, rv) for rv in model.free_RVs], random_seed=0, mode="FAST_COMPILE")
        declared = self._declare(decisions, **self._hyperparameters)
        with model:
            pm.set_data(_data_of(decisions))
        densities = [
            compile_graph(one.value_vars, one.logp(), mode="FAST_COMPILE")(*point) for one in (model, declared)
        ]
        return bool(np.isclose(*densities))


class _Nuts:
    """NUTS, compiled once for all choices."""

    def __init__(self, model: pm.Model, names: list[str], draws: int) -> None:
        self._model, self._names, self._draws = model, names, draws
        with model:
            self._step = pm.NUTS()
        self._untuned = self._step.sampling_state
        graphs = model.replace_rvs_by_values([model[name] for name in names])
        self._record: Callable[..., Any] = compile_graph(model.value_vars, graphs, on_unused_input="ignore")
        self._start = model.initial_point()

    def sample(self, data: dict[str, np.ndarray], seed: list[int]) -> Quantities:
        """Draws (draw, ...) of the named variables given these choices and rewards."""
        with self._model:
            pm.set_data(data)
        self._step.sampling_state = self._untuned
        begin_chain(self._step, np.random.default_rng(seed), self._draws, self._draws)
        point, recorded = self._start, []
        for i in range(2 * self._draws):
            if i == self._draws:
                self._step.stop_tuning()
            point, _ = self._step.step(point)
            if i >= self._draws:
                recorded.append(self._record(*(point[value.name] for value in self._model.value_vars)))
        return {name: np.array(path) for name, path in zip(self._names, zip(*recorded, strict=True), strict=True)}


def _data_of(decisions: xr.Dataset) -> dict[str, np.ndarray]:
    """What differs between logs, as data of a declared model."""
    data = {CHOSEN_SLOT: decisions["chosen"].values}
    return data | {OBSERVED_REWARD: decisions["reward"].values} if "reward" in decisions else data


def _components(name: str, array: np.ndarray, labels: Any) -> Quantities:
    flat = array.reshape(len(array), -1)
    if flat.shape[1] == 1:
        return {name: flat[:, 0]}
    names = [str(i) for i in range(flat.shape[1])] if labels is None else labels
    return {f"{name} [{names[i]}]": flat[:, i] for i in range(min(flat.shape[1], MOST))}
