"""Compute the reference posteriors of six small problems, by importance sampling from their priors: run this file.

Each model is written here again, in numpy and from its equations alone, so that an error of the package is not
repeated. A draw from the prior is weighted by the probability of the choices given it. The draws are independent, and
the standard error of a weighted mean is known; they are accepted once they are worth 10,000 unweighted ones.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

ENOUGH, CHUNK, LARGEST_SHARE = 10_000, 100_000, 0.005
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
FILE = Path(__file__).with_name("posteriors.json")
Draws = dict[str, np.ndarray]


class Log:
    """Decisions between candidates with two features, all available."""

    def __init__(self, steps: int, actions: int, seed: int, scale: tuple[float, float], agents: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.context = (rng.standard_normal((steps, actions, 2)) * scale).round(2)
        self.chosen = rng.integers(actions, size=steps)
        self.agent = np.arange(steps) % agents if agents else None

    def spread(self) -> np.ndarray:
        """Root mean square of the differences between two candidates of a decision, (feature,)."""
        actions = self.context.shape[1]
        pairs = [(i, j) for i in range(actions) for j in range(i)]
        return np.sqrt(np.mean([(self.context[:, i] - self.context[:, j]) ** 2 for i, j in pairs], axis=(0, 1)))

    def log_probability(self, rho: np.ndarray, alpha: float, at: int) -> np.ndarray:
        """log p(a_t | rho_t) of each draw of rho_t (draw, feature)."""
        utility = alpha * rho @ self.context[at].T
        top = utility.max(axis=1)
        return utility[:, self.chosen[at]] - top - np.log(np.exp(utility - top[:, None]).sum(axis=1))


def constant(log: Log, rng: np.random.Generator, n: int) -> tuple[Draws, np.ndarray]:
    """b_irl: weights ~ N(0, (2.5 / d)^2), the same at all times."""
    rho = 2.5 / log.spread() * rng.standard_normal((n, 2))
    return components("rho_env", rho), sum(log.log_probability(rho, 1.0, t) for t in range(len(log.chosen)))


def walk(log: Log, rng: np.random.Generator, n: int) -> tuple[Draws, np.ndarray]:
    """nb_icb: log w ~ N(log 0.5, 0.7^2), log s_0 ~ N(log 1.5, 1), a walk that moves by w / d over the whole log."""
    movement, start = log_normal(rng, n, 0.5, 0.7), log_normal(rng, n, 1.5, 1.0)
    steps = len(log.chosen)
    belief = start[:, None] / log.spread() * rng.standard_normal((n, 2))
    likelihood = log.log_probability(belief, 1.0, 0)
    draws = {"log total_movement": np.log(movement), "log start_scale": np.log(start)} | components(
        "first belief", belief
    )
    for t in range(1, steps):
        belief = belief + movement[:, None] / np.sqrt(steps - 1) / log.spread() * rng.standard_normal((n, 2))
        likelihood += log.log_probability(belief, 1.0, t)
    return draws | components("last belief", belief), likelihood


def jumps(log: Log, rng: np.random.Generator, n: int) -> tuple[Draws, np.ndarray]:
    """shrinkage_nb_icb: tau ~ C+(1 / (T - 1)), lambda_t ~ C+(1), innovations of scale tau lambda_t / d."""
    steps = len(log.chosen)
    scale, start = np.abs(rng.standard_cauchy(n)) / (steps - 1), log_normal(rng, n, 1.5, 1.0)
    belief = start[:, None] / log.spread() * rng.standard_normal((n, 2))
    likelihood = log.log_probability(belief, 1.0, 0)
    draws = {"log global_scale": np.log(scale), "log start_scale": np.log(start)} | components("first belief", belief)
    for t in range(1, steps):
        local = np.abs(rng.standard_cauchy(n))
        belief = belief + (scale * local)[:, None] / log.spread() * rng.standard_normal((n, 2))
        likelihood += log.log_probability(belief, 1.0, t)
        if t == steps // 2:
            draws |= components("middle belief", np.arcsinh(belief)) | {"log local_scale": np.log(local)}
    return draws | components("last belief", np.arcsinh(belief)), likelihood


def subjects(log: Log, rng: np.random.Generator, n: int) -> tuple[Draws, np.ndarray]:
    """hierarchical_nb_icb: subjects begin around a population, log scale ~ N(log 0.5, 1), and move on their own."""
    movement, start = log_normal(rng, n, 0.5, 0.7), log_normal(rng, n, 1.5, 1.0)
    spread = log_normal(rng, n, 0.5, 1.0)
    population = start[:, None] / log.spread() * rng.standard_normal((n, 2))
    draws = {"log total_movement": np.log(movement), "log start_scale": np.log(start)}
    draws |= {"log deviation_scale": np.log(spread)} | components("population", population)
    likelihood = np.zeros(n)
    for agent in np.unique(log.agent):
        own = np.flatnonzero(log.agent == agent)
        belief = population + spread[:, None] / log.spread() * rng.standard_normal((n, 2))
        for number, t in enumerate(own):
            if number:
                belief = belief + movement[:, None] / np.sqrt(len(own) - 1) / log.spread() * rng.standard_normal((n, 2))
            likelihood += log.log_probability(belief, 1.0, t)
        draws |= components(f"last belief of {agent}", belief)
    return draws, likelihood


def learner(log: Log, rng: np.random.Generator, n: int) -> tuple[Draws, np.ndarray]:
    """b_icb: sigma, s and the scale of rho_env are learnt; rewards were not seen, rho_t is drawn from the belief."""
    steps = len(log.chosen)
    sigma, scale = log_normal(rng, n, 1.0, 1.0), log_normal(rng, n, 1.6, 0.5)
    strength = np.abs(0.15 * steps * rng.standard_normal(n))
    rho_env = scale[:, None] / log.spread() * rng.standard_normal((n, 2))
    typical = (log.context**2).mean(axis=(0, 1))
    # In units of sigma^2, so that the update does not depend on it: precision Lambda and Lambda mu.
    precision = strength[:, None, None] * np.diag(typical) + np.zeros((n, 2, 2))
    mean = np.zeros((n, 2))
    draws = {"log sigma": np.log(sigma), "log strength": np.log(strength), "log rho_env_scale": np.log(scale)}
    return acting(log, rng, draws, rho_env, precision, mean, sigma, alpha=1.0, noise=True)


def greedy(log: Log, rng: np.random.Generator, n: int) -> tuple[Draws, np.ndarray]:
    """The agent greedy: alpha = 20, sigma = 0.1, s = T / 50, rho_env ~ N(-1/k, (2/k)^2), and rho_t = mu_t."""
    rho_env = -0.5 + rng.standard_normal((n, 2))
    precision = len(log.chosen) / 50 * np.eye(2) + np.zeros((n, 2, 2))
    return acting(log, rng, {}, rho_env, precision, np.full((n, 2), -0.5), np.full(n, 0.1), alpha=20.0, noise=False)


def acting(log, rng, draws, rho_env, precision, mean, sigma, *, alpha, noise) -> tuple[Draws, np.ndarray]:
    """A Bayesian learner, whose belief is N(mean, sigma^2 precision^-1), and its choices."""
    n, likelihood = len(mean), np.zeros(len(mean))
    for t, chosen in enumerate(log.chosen):
        rho = mean
        if noise:
            root = np.linalg.cholesky(np.linalg.inv(precision))
            rho = mean + sigma[:, None] * np.einsum("nij,nj->ni", root, rng.standard_normal((n, 2)))
        likelihood += log.log_probability(rho, alpha, t)
        if t == len(log.chosen) - 1:
            break
        x = log.context[t, chosen]
        reward = rho_env @ x + sigma * rng.standard_normal(n)
        shift = np.einsum("nij,nj->ni", precision, mean) + reward[:, None] * x
        precision = precision + np.outer(x, x)
        mean = np.linalg.solve(precision, shift[:, :, None])[:, :, 0]
    return draws | components("rho_env", rho_env) | components("last belief", mean), likelihood


def log_normal(rng: np.random.Generator, n: int, median: float, sd: float) -> np.ndarray:
    return median * np.exp(sd * rng.standard_normal(n))


def components(name: str, vectors: np.ndarray) -> Draws:
    return {f"{name} {i}": vectors[:, i] for i in range(vectors.shape[1])}


PROBLEMS: dict[str, tuple[Callable[..., tuple[Draws, np.ndarray]], Log]] = {
    "b_irl": (constant, Log(12, 3, seed=1, scale=(1.0, 5.0))),
    "nb_icb": (walk, Log(12, 2, seed=2, scale=(1.0, 5.0))),
    "shrinkage_nb_icb": (jumps, Log(8, 3, seed=3, scale=(1.0, 5.0))),
    "hierarchical_nb_icb": (subjects, Log(12, 2, seed=4, scale=(1.0, 5.0), agents=3)),
    "b_icb": (learner, Log(8, 2, seed=5, scale=(1.0, 5.0))),
    "greedy": (greedy, Log(8, 2, seed=6, scale=(0.3, 0.3))),
}


def reference(name: str) -> dict[str, object]:
    """Summaries of a posterior, with their standard errors, once there are draws enough."""
    draw, log = PROBLEMS[name]
    rng, parts, weights, worth = np.random.default_rng(2026), [], [], 0.0
    while worth < ENOUGH:
        one, likelihood = draw(log, rng, CHUNK)
        parts.append(one)
        weights.append(np.exp(likelihood))
        weight = np.concatenate(weights)
        worth = weight.sum() ** 2 / (weight**2).sum()
    weight /= weight.sum()
    assert weight.max() < LARGEST_SHARE, "a few draws have most of the weight"
    quantities = {key: summary(np.concatenate([part[key] for part in parts]), weight) for key in parts[0]}
    print(f"{name}: {len(weight):,} draws worth {worth:,.0f}, largest weight {weight.max():.1e}", flush=True)
    data = {"context": log.context.tolist(), "chosen": log.chosen.tolist()}
    data |= {} if log.agent is None else {"agent": log.agent.tolist()}
    return {"data": data, "draws": len(weight), "worth": round(worth), "quantities": quantities}


def summary(values: np.ndarray, weight: np.ndarray) -> dict[str, object]:
    """Mean, standard deviation and quantiles; standard errors of the mean, of the variance, and of the shares below."""
    mean = weight @ values
    variance = weight @ (values - mean) ** 2
    order = np.argsort(values)
    at = np.searchsorted(np.cumsum(weight[order]), QUANTILES)
    quantiles = values[order][at]
    below = (values[:, None] < quantiles).astype(float)
    result = {
        "mean": mean,
        "mean_error": error(values, weight),
        "sd": np.sqrt(variance),
        "variance_error": error((values - mean) ** 2, weight),
        "quantiles": quantiles,
        "share_errors": [error(column, weight) for column in below.T],
    }
    return {key: np.round(value, 6).tolist() for key, value in result.items()}


def error(values: np.ndarray, weight: np.ndarray) -> float:
    """Standard error of a weighted mean of independent draws."""
    return float(np.sqrt((weight**2) @ (values - weight @ values) ** 2))


if __name__ == "__main__":
    content = {name: reference(name) for name in PROBLEMS}
    FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
