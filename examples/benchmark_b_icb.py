# %% [markdown]
# # One sweep of B-ICB: linear time against the dense form of Lemma 1
#
# Both are measured in one run on one core. The dense form draws rewards from the T x T covariance of Lemma 1; its
# Cholesky factor or inverse is computed for each draw, or once beforehand (possible if the strength of the belief does
# not change).

# %%
import time

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from icb_pymc import simulate
from icb_pymc.kernels.alternation import alternate
from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.kernels.reward_given_rho import covariance_path, draw_reward_path, reward_gains
from icb_pymc.sample.em import expectation_maximisation

threadpool_limits(1)
SIGMA, ALPHA, STRENGTH = 0.10, 20.0, 10.0


def best_seconds(action, repeats: int = 5) -> float:
    """The shortest time of a call, which other processes on the machine disturb least."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def sampler(steps: int):
    """One sweep of EM's inner sampler, and all quantities that Lemma 1 needs."""
    decisions = simulate("sampling", steps=steps, seed=0)
    context, chosen = decisions["context"].values, decisions["chosen"].values
    taken = context[np.arange(steps), chosen].copy()
    contrasts = choice_contrasts(context, decisions["available"].values, chosen, ALPHA)
    beliefs = covariance_path(SIGMA**2 / STRENGTH * np.eye(8), taken, SIGMA)
    gains = reward_gains(beliefs.covariance, taken, SIGMA)
    start_mean, rho_env = np.full(8, -1 / 8), decisions["true_rho_env"].values
    rho, rng, none = decisions["true_rho"].values.copy(), np.random.default_rng(0), np.empty((0, steps, 8))

    def sweeps(count: int) -> None:
        alternate(gains, beliefs, contrasts, start_mean, rho_env, SIGMA, True, count, rng, rho, none)

    return sweeps, taken, beliefs, gains, start_mean, rho_env, rho


# %% Time as a function of the length of the log.
print("       T   us per sweep   us per sweep and decision")
for steps in (500, 5_000, 50_000, 100_000):
    sweeps, *_ = sampler(steps)
    count = max(1, 200_000 // steps)
    seconds = best_seconds(lambda sweeps=sweeps, count=count: sweeps(count)) / count
    print(f"{steps:8d}  {seconds * 1e6:13.0f}   {seconds / steps * 1e6:25.3f}")

# %% Lemma 1 as printed.
sweeps, taken, beliefs, gains, start_mean, rho_env, rho = sampler(500)
T = len(taken)
rng = np.random.default_rng(1)
weighted = np.array([np.where(np.arange(T)[None] <= t, taken.T / SIGMA**2, 0.0) for t in range(T)])
precision = np.eye(T) / SIGMA**2 + sum(weighted[t - 1].T @ beliefs.covariance[t] @ weighted[t - 1] for t in range(1, T))
start_part = beliefs.covariance @ (STRENGTH / SIGMA**2 * start_mean)


def linear_term() -> np.ndarray:
    later_sum = np.cumsum((rho - start_part)[:0:-1], axis=0)[::-1]
    return taken @ rho_env / SIGMA**2 + np.append((taken[:-1] * later_sum).sum(axis=1), 0.0) / SIGMA**2


def draw_with_inverse() -> np.ndarray:
    covariance = np.linalg.inv(precision)
    return covariance @ linear_term() + np.linalg.cholesky(covariance) @ rng.standard_normal(T)


def draw_with_cholesky() -> np.ndarray:
    root = scipy.linalg.cholesky(precision, lower=True)
    half = scipy.linalg.solve_triangular(root, linear_term(), lower=True)
    return scipy.linalg.solve_triangular(root, half + rng.standard_normal(T), lower=True, trans=1)


covariance = np.linalg.inv(precision)
covariance_root = np.linalg.cholesky((covariance + covariance.T) / 2)


def draw_with_stored_factors() -> np.ndarray:
    return covariance @ linear_term() + covariance_root @ rng.standard_normal(T)


def linear_draw(noise: np.ndarray) -> np.ndarray:
    reward = np.empty(T)
    draw_reward_path(gains, start_mean, rho_env, rho, noise, reward)
    return reward


assert np.abs(covariance @ linear_term() - linear_draw(np.zeros(T))).max() < 1e-8
sweep = best_seconds(lambda: sweeps(200)) / 200
reward = best_seconds(lambda: [linear_draw(rng.standard_normal(T)) for _ in range(200)]) / 200
print("\nT = 500, k = 8, A = 2, one core")
print(f"  our whole sweep (rewards and rho)  {sweep * 1e6:9.0f} us")
print(f"  our rewards, Lemma 1 in O(Tk)      {reward * 1e6:9.0f} us")
dense = {
    "inverse and Cholesky each draw": draw_with_inverse,
    "Cholesky each draw": draw_with_cholesky,
    "stored factors": draw_with_stored_factors,
}
for name, draw in dense.items():
    seconds = best_seconds(lambda draw=draw: [draw() for _ in range(5)]) / 5
    print(
        f"  rewards by dense Lemma 1, {name}: {seconds * 1e6:.0f} us, {seconds / reward:.0f} times our rewards, "
        f"{seconds / sweep:.0f} times our whole sweep"
    )

# %% EM as published: 100 iterations of 2,000 sweeps.
decisions = simulate("sampling", steps=500, seed=0)
start = time.perf_counter()
expectation_maximisation(decisions, least_squares=True, as_printed=True, seed=0, progressbar=False)
print(f"\nEM, 100 x 2,000 sweeps: {time.perf_counter() - start:.1f} s")
