"""Small random state spaces of every kind, and the dense matrices that they are tested against."""

import numpy as np

from icb_pymc.kernels.pseudo_data import choice_gradient, empty_data, pseudo_data_at
from icb_pymc.kernels.state_space import Noise, StateSpace, empty_noise, path_from_noise

STATE = 3
# Number of contrasts of each decision: one alternative, several, or none.
CONTRASTS = (2, 0, 1, 3, 1, 0)
KINDS = (
    "identity",
    "static",
    "diagonal",
    "diagonal over time",
    "rank one",
    "rank one over time",
    "dense",
    "dense over time",
    "all over time",
    "no sampling noise",
    "identical rows",
    "one alternative each",
    "one decision",
    "no alternatives",
)


def random_space(kind, seed=0, counts=CONTRASTS):
    """A state space of this kind; arrays that do not depend on time have a leading dimension of one."""
    rng = np.random.default_rng(seed)
    counts = {"one alternative each": (1,) * 6, "one decision": (2,), "no alternatives": (0,) * 4}.get(kind, counts)
    moves, rows, d = len(counts) - 1, sum(counts), STATE
    over_time = moves if kind.endswith("over time") else 1
    none = np.zeros((1, 0, d))
    space = StateSpace(
        start_mean=rng.standard_normal(d),
        start_root=rng.standard_normal((d, d)),
        decay=np.empty((0, d)),
        left=none,
        right=none,
        drift=0.3 * rng.standard_normal((over_time, d)),
        move_scale=rng.uniform(0.5, 1.5, moves),
        move_root=0.5 * rng.standard_normal((1, 2, d)),
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        offset=rng.standard_normal(rows),
        state_loading=rng.standard_normal((rows, d)),
        sampling_loading=0.7 * rng.standard_normal((rows, 2)),
    )
    if kind.startswith("diagonal"):
        space = space._replace(decay=rng.uniform(-0.5, 0.95, (over_time, d)))
    if kind.startswith("rank one"):
        # The root of the start is not square, as for a learner whose start is partly known.
        left, right = 0.5 * rng.standard_normal((2, over_time, 1, d))
        space = space._replace(left=left, right=right, start_root=rng.standard_normal((d, 1)))
    if kind.startswith(("dense", "all")):
        left, right = 0.5 * rng.standard_normal((2, over_time, d, d))
        space = space._replace(decay=np.zeros((1, d)), left=left, right=right)
    if kind == "all over time":
        decay, root = rng.uniform(0.2, 0.9, (moves, d)), 0.5 * rng.standard_normal((moves, 3, d))
        space = space._replace(decay=decay, move_root=root, start_root=rng.standard_normal((d, 5)))
    if kind in ("static", "no sampling noise", "identical rows"):
        space = space._replace(sampling_loading=np.empty((rows, 0)))
    if kind == "static":
        space = space._replace(move_scale=np.zeros(1))
    if kind == "identical rows":
        # There are also more rows than noise terms, so the covariance of the contrasts is singular.
        space = space._replace(move_root=np.zeros((1, 0, d)), state_loading=np.tile(space.state_loading[:1], (rows, 1)))
    return space


def long_walk(times, move, seed=0, contrasts=1, features=2, alpha=3.0):
    """A random walk of beliefs with moves of this scale, and many decisions between random candidates."""
    rng = np.random.default_rng(seed)
    rows, none = times * contrasts, np.zeros((1, 0, features))
    return StateSpace(
        start_mean=np.zeros(features),
        start_root=np.eye(features),
        decay=np.empty((0, features)),
        left=none,
        right=none,
        drift=np.zeros((1, features)),
        move_scale=np.full(1, move),
        move_root=np.eye(features)[None],
        first=contrasts * np.arange(times + 1),
        offset=np.zeros(rows),
        state_loading=alpha * rng.standard_normal((rows, features)),
        sampling_loading=np.empty((rows, 0)),
    )


def transition(space, t):
    """F_t as a dense matrix."""
    decay = space.decay[min(t, len(space.decay) - 1)] if len(space.decay) else np.ones(space.start_mean.size)
    f = min(t, len(space.left) - 1)
    return np.diag(decay) + space.left[f].T @ space.right[f]


def to_vector(noise):
    """z, w and ξ as one vector."""
    return np.concatenate([part.ravel() for part in noise])


def from_vector(space, vector):
    """One vector as z, w and ξ."""
    like = empty_noise(space)
    parts = np.split(vector, np.cumsum([part.size for part in like])[:-1])
    return Noise(*(part.reshape(template.shape).copy() for part, template in zip(parts, like, strict=True)))


def noise_size(space):
    return to_vector(empty_noise(space)).size


def contrasts_of(space, noise, with_means=True):
    """The contrasts that `path_from_noise` computes."""
    states, contrasts = np.empty((space.first.size - 1, space.state_loading.shape[1])), np.empty(space.offset.size)
    path_from_noise(space, noise, float(with_means), states, contrasts)
    return contrasts


def prior(space):
    """Mean m of the contrasts and the matrix A that maps noise to contrasts, K = AA'."""
    size = noise_size(space)
    mean = contrasts_of(space, from_vector(space, np.zeros(size)))
    columns = [contrasts_of(space, from_vector(space, unit), with_means=False) for unit in np.eye(size)]
    return mean, np.reshape(columns, (size, space.offset.size)).T


def data_at(space, contrasts):
    """Pseudo-data of the choices at these contrasts."""
    data, gradient = empty_data(space.first), np.empty(space.offset.size)
    choice_gradient(space.first, contrasts, gradient, False)
    pseudo_data_at(space.first, contrasts, gradient, data)
    return data


def noise_covariance(first, data):
    """V as a dense matrix."""
    covariance = np.zeros((data.variance.size, data.variance.size))
    for t, common in enumerate(data.common_variance):
        rows = slice(first[t], first[t + 1])
        covariance[rows, rows] = np.diag(data.variance[rows]) + common
    return covariance


def log_likelihood(first, contrasts, lapse=0.0):
    """log π, π = (1 - lapse) / (1 + Σ exp u) + lapse / number of candidates, summed over decisions."""
    decisions = [np.append(contrasts[first[t] : first[t + 1]], 0.0) for t in range(len(first) - 1)]
    if lapse == 0.0:
        return -sum(np.logaddexp.reduce(decision) for decision in decisions)
    chosen = [np.exp(-np.logaddexp.reduce(decision)) for decision in decisions]
    return sum(np.log((1 - lapse) * p + lapse / len(own)) for p, own in zip(chosen, decisions, strict=True))


def probabilities(first, contrasts):
    """Probabilities of the candidates that were not chosen."""
    out = np.empty(contrasts.size)
    for t in range(len(first) - 1):
        rows = slice(first[t], first[t + 1])
        out[rows] = np.exp(contrasts[rows] - np.logaddexp.reduce(np.append(contrasts[rows], 0.0)))
    return out
