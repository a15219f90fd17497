"""The models behind the accounts of an event: weights that stand still, drift, step, or become sharper by one factor.

All are state spaces for `icb_pymc.kernels`, in log-odds per typical difference between two candidates
(`contrast_spread`), so that the same priors fit features of any scale. Their evidence is computed by Laplace's method.
"""

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from icb_pymc.data.standardisation import WEIGHT_SD, contrast_spread
from icb_pymc.kernels.hamiltonian import draw_centred_noise, fresh_noise, make_reference
from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import PseudoData
from icb_pymc.kernels.state_space import StateSpace

# The scales of the step and of the drift over the whole window have half-normal priors, with standard deviation 1 by
# default, in the same unit; they are averaged over these values, the smallest of which no log can tell from zero.
SCALES = np.geomspace(0.05, 3.0, 7)
# How large a step was is judged by a prior as wide as that of the weights themselves. A scale that the features share,
# most of which did not change, pulls the step of the one that did towards zero.
STEP_SD = WEIGHT_SD
# Standard deviation of the logarithm of the factor by which all weights are multiplied: log 2.
FACTOR_SD = 0.7
# Its values that are averaged over, in posterior standard deviations around its mean, and how often these are improved.
FACTOR_NODES, MOST_ROUNDS = np.linspace(-3.5, 3.5, 9), 10


def unchanging_space(decisions: xr.Dataset, lapse: float = 0.0) -> StateSpace:
    """The state space of weights that stand still, in log-odds per typical difference between two candidates."""
    available, chosen = decisions["available"].values.astype(bool), decisions["chosen"].values
    contrasts = choice_contrasts(decisions["context"].values / contrast_spread(decisions), available, chosen, 1.0)
    k = decisions.sizes["feature"]
    return StateSpace(
        start_mean=np.zeros(k),
        start_root=WEIGHT_SD * np.eye(k),
        decay=np.empty((0, k)),
        left=np.empty((1, 0, k)),
        right=np.empty((1, 0, k)),
        drift=np.zeros((1, k)),
        move_scale=np.zeros(max(len(chosen) - 1, 1)),
        move_root=np.eye(k)[None],
        first=contrasts.first,
        offset=np.zeros(len(contrasts.values)),
        state_loading=contrasts.values,
        sampling_loading=np.zeros((len(contrasts.values), 0)),
        lapse=lapse,
    )


def changing_space(space: StateSpace, at: int, movement: float, step: float, log_factor: float = 0.0) -> StateSpace:
    """With drift of this scale over the whole log, a step of this scale before decision `at`, and sharper from then on.

    Weights c w_t with a factor c are the same as weights w_t of contrasts that are c times as large.
    """
    square = np.full(len(space.move_scale), movement**2 / len(space.move_scale))
    square[at - 1] += step**2
    loading = space.state_loading
    if log_factor != 0.0:
        loading = loading.copy()
        loading[space.first[at] :] *= np.exp(log_factor)
    return space._replace(move_scale=np.sqrt(square), state_loading=loading)


def log_scale_prior(prior_scale: float = 1.0) -> np.ndarray:
    """Logarithms of the prior probabilities of `SCALES`: half-normal, times their spacing on the log scale."""
    density = -0.5 * (SCALES / prior_scale) ** 2 + np.log(SCALES)
    return density - logsumexp(density)


class Evidence:
    """Log evidence of one log under scales and a factor; each search for a mode starts from the last.

    Parameters
    ----------
    decisions : Dataset
    at : int
        Position of the first decision after the event.
    prior_scale : float
        By which the standard deviations of all these priors are multiplied.
    lapse : float
        Probability that a choice is made at random.
    """

    def __init__(self, decisions: xr.Dataset, at: int, prior_scale: float = 1.0, lapse: float = 0.0) -> None:
        self.space, self.at = unchanging_space(decisions, lapse), at
        self._prior_scale, self._factor_sd = prior_scale, prior_scale * FACTOR_SD
        self._near: PseudoData | None = None
        # Where the posterior of the logarithm of the factor is: the prior, to begin with.
        self._factor = (0.0, self._factor_sd)

    def __call__(self, movement: float, step: float, log_factor: float = 0.0) -> float:
        mode = find_mode(changing_space(self.space, self.at, movement, step, log_factor), self._near)
        self._near = mode.data
        return mode.log_evidence

    def own_steps(self, movement: float) -> float:
        """Of steps of each weight by itself, given the scale of the drift: averaged over the scale of the steps."""
        return float(logsumexp([self(movement, scale) for scale in SCALES] + log_scale_prior(self._prior_scale)))

    def one_factor(self, movement: float) -> float:
        """Of one factor for all weights, given the scale of the drift: an even rule whose nodes cover its posterior."""

        def joint(log_factor: float) -> float:
            density = -0.5 * (log_factor / self._factor_sd) ** 2 - np.log(self._factor_sd * np.sqrt(2 * np.pi))
            return float(self(movement, 0.0, log_factor) + density)

        for _ in range(MOST_ROUNDS):
            centre, spread = self._factor
            nodes = centre + spread * FACTOR_NODES
            values = np.array([joint(float(node)) for node in nodes])
            weight = np.exp(values - logsumexp(values))
            mean = float(weight @ nodes)
            sd = float(np.sqrt(weight @ (nodes - mean) ** 2))
            # The nodes of one scale of the drift serve for the next, if they still cover the posterior.
            self._factor = mean, float(np.clip(sd, spread / 3, min(3 * spread, self._factor_sd)))
            if abs(mean - centre) < 0.5 * spread and 0.75 < sd / spread < 1.3:
                break
        return float(logsumexp(values) + np.log(spread * (FACTOR_NODES[1] - FACTOR_NODES[0])))


def draw_steps(
    space: StateSpace, movements: dict[float, float], step: float, at: int, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Draws (draw, feature) of the weights, averaged over scales of the drift: the means `before` and `after` the
    event, and the weights just before and after it, `step_from` and `step_to`.

    Parameters
    ----------
    space : StateSpace
        Of weights that stand still.
    movements : dict
        Scales of the drift over the whole window, and the logarithm of how probable each is.
    step : float
        Scale of the step of each weight.
    at : int
        Position of the first decision after the event.
    draws, seed : int
    """
    rng = np.random.Generator(np.random.SFC64(seed))
    log_joint = np.array(list(movements.values()))
    number = rng.multinomial(draws, np.exp(log_joint - logsumexp(log_joint)))
    drawn: dict[str, list[np.ndarray]] = {"step_from": [], "step_to": [], "before": [], "after": []}
    for movement, times in zip(movements, number, strict=True):
        if times == 0:
            continue
        moving = changing_space(space, at, movement, step)
        reference = make_reference(moving, find_mode(moving).data)
        for _ in range(times):
            around = draw_centred_noise(reference, fresh_noise(reference, rng))
            start = WEIGHT_SD * (around.start + reference.noise.start)
            moves = moving.move_scale[:, None] * (around.move + reference.noise.move)
            path = np.cumsum(np.vstack([start, moves]), axis=0)
            for name, value in zip(drawn, (path[at - 1], path[at], path[:at].mean(0), path[at:].mean(0)), strict=True):
                drawn[name].append(value)
    return {name: np.array(values) for name, values in drawn.items()}
