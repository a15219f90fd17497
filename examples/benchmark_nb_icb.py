# %% [markdown]
# # One sweep of NB-ICB: linear time against the dense form of Lemma 2
#
# Both are measured in one run on one core. The dense form is as fast as it can be: its factors are computed beforehand,
# and a draw is two matrix-vector products with BLAS.

# %%
import resource
import time

import numpy as np
import pymc as pm
from threadpoolctl import threadpool_limits

from icb_pymc import simulate
from icb_pymc.models import nb_icb
from icb_pymc.models.nb_icb import paper
from icb_pymc.steps import BeliefGibbs, RhoMetropolis
from icb_pymc.steps.assign import alternating_steps

threadpool_limits(1)


def best_seconds(action, repeats: int = 5, calls: int = 20) -> float:
    """The shortest mean time of a call, which other processes on the machine disturb least."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            action()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# %% Time as a function of the length of the log. This comes first, since the dense form needs far more memory.
print("       T   us per sweep   us per sweep and decision   peak MB beyond the data and the start")
for steps in (500, 5_000, 50_000, 100_000):
    decisions = simulate("stepping", steps=steps, seed=0)
    model = nb_icb(decisions, **paper(decisions).hyperparameters)
    before = peak_megabytes()
    sweep = alternating_steps(model)
    assert sweep is not None
    start = model.initial_point()
    seconds = best_seconds(lambda sweep=sweep, start=start: sweep.step(start), repeats=3, calls=5)
    print(f"{steps:8d}  {seconds * 1e6:13.0f}   {seconds / steps * 1e6:25.3f}   {peak_megabytes() - before:10.0f}")

# %% The library's sweep, and the belief draw of Lemma 2 as printed.
decisions = simulate("stepping", steps=500, seed=0)
model = nb_icb(decisions, **paper(decisions).hyperparameters)
with model:
    belief_step, rho_step = BeliefGibbs([model["belief"]], rng=1), RhoMetropolis([model["rho"]], rng=2)
point = model.initial_point()

innovation_covariance, sampling_covariance = (
    paper(decisions).hyperparameters[f"{name}_covariance"] for name in ("innovation", "sampling")
)
steps, features = decisions.sizes["time"], decisions.sizes["feature"]
order = np.arange(1, steps + 1)
prior_precision = np.kron(np.linalg.inv(np.minimum.outer(order, order)), np.linalg.inv(innovation_covariance))
noise_precision = np.kron(np.eye(steps), np.linalg.inv(sampling_covariance))
covariance = np.linalg.inv(prior_precision + noise_precision)
gain, root = covariance @ noise_precision, np.linalg.cholesky((covariance + covariance.T) / 2)
del prior_precision, noise_precision, covariance
rng = np.random.default_rng(3)


def dense_belief_draw() -> np.ndarray:
    residual = (point["rho"] - (-1 / features)).ravel()
    return gain @ residual + root @ rng.standard_normal(steps * features)


belief, rho, dense = (
    best_seconds(lambda: belief_step.step(point), calls=200),
    best_seconds(lambda: rho_step.step(point), calls=200),
    best_seconds(dense_belief_draw, calls=5),
)
print(f"\nT = {steps}, k = {features}, A = 2, one core")
print(f"  belief path, Lemma 2 in O(Tk)   {belief * 1e6:9.0f} us")
print(f"  rho, Metropolis                 {rho * 1e6:9.0f} us")
print(f"  belief path, dense Lemma 2      {dense * 1e6:9.0f} us")
print(
    f"  belief path: {dense / belief:.0f} times faster; whole sweep: {(dense + rho) / (belief + rho):.0f} times faster"
)

# %% 20,000 sweeps through pm.sample: 1,000 draws after 1,000 of tuning, ten sweeps each.
with model:
    start = time.perf_counter()
    pm.sample(
        draws=1000,
        tune=1000,
        chains=1,
        cores=1,
        random_seed=0,
        step=alternating_steps(model, sweeps=10),
        var_names=["belief"],
        progressbar=False,
        quiet=True,
        compute_convergence_checks=False,
    )
print(f"20,000 sweeps through pm.sample: {time.perf_counter() - start:.1f} s")
