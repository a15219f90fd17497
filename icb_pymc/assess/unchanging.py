"""Does a fitted model predict the choices better than one whose weights never change?"""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from icb_pymc.assess.accounts import draw_unchanging_weights
from icb_pymc.assess.predictive_checks import has_probabilities
from icb_pymc.assess.weights import mean_lapse
from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import decisions_in

DRAWS = 400
# The model is called better or worse if the scores differ by this many standard errors and by this many log units: the
# standard error of a smaller difference is itself unreliable (Sivula, Magnusson and Vehtari, 2020).
STANDARD_ERRORS, LOG_UNITS = 2.0, 4.0


@dataclass(frozen=True)
class AgainstUnchanging:
    """Result of `against_unchanging`; print it for a sentence.

    Attributes
    ----------
    difference, standard_error : float
        Sum over decisions of log p(choice | all others) under the model minus that of unchanging weights, and its
        standard error.
    """

    difference: float
    standard_error: float

    @property
    def is_worse(self) -> bool:
        """Whether the model predicts clearly worse than one whose weights never change."""
        return self.difference < -max(STANDARD_ERRORS * self.standard_error, LOG_UNITS)

    @property
    def is_better(self) -> bool:
        """Whether it predicts clearly better."""
        return self.difference > max(STANDARD_ERRORS * self.standard_error, LOG_UNITS)

    def __str__(self) -> str:
        size = f"{abs(self.difference):.1f} +- {self.standard_error:.1f} log units over all choices"
        if self.is_worse:
            return (
                f"weights that never change predict the choices better, by {size}: this model moves more than the "
                "choices say, or its priors do not fit the log, so do not rely on changes that it shows"
            )
        if self.is_better:
            return f"the model predicts the choices better than weights that never change, by {size}"
        word = "better" if self.difference >= 0 else "worse"
        return f"the model predicts the choices about as well as weights that never change ({word} by {size})"


def against_unchanging(trace: InferenceData) -> AgainstUnchanging | None:
    """Compare the choice probabilities of a trace with those of weights that never change.

    Both are given all other choices (leave-one-out). The unchanging weights have the prior of
    `icb_pymc.assess.accounts`, wide in log-odds; their posterior is approximated by the Gaussian around its mode. If
    the model has lapses, choices under these weights lapse as often as on average in the trace.

    Parameters
    ----------
    trace : InferenceData

    Returns
    -------
    AgainstUnchanging or None
        None if the trace has no choice probabilities, or not its decisions.
    """
    if not has_probabilities(trace) or "chosen" not in group(trace, "observed_data"):
        return None
    decisions = decisions_in(trace)
    chosen = decisions["chosen"].values
    probability = group(trace, "choice_probabilities")["probability"].values
    model = np.log(np.maximum(probability[np.arange(len(chosen)), chosen], 1e-300))
    difference = model - unchanging_scores(decisions, mean_lapse(trace))
    return AgainstUnchanging(float(difference.sum()), float(np.sqrt(len(difference) * difference.var())))


def unchanging_scores(decisions: xr.Dataset, lapse: float = 0.0) -> np.ndarray:
    """log p(a_t | all other choices) (time,) under weights that never change.

    1 / p(a_t | others) is the posterior mean of 1 / p(a_t | weights).
    """
    weights = draw_unchanging_weights(decisions, DRAWS, 0, lapse)
    available, chosen = decisions["available"].values.astype(bool), decisions["chosen"].values
    contrasts = choice_contrasts(decisions["context"].values, available, chosen, 1.0)
    scores = np.empty(len(chosen))
    for t in range(len(chosen)):
        utility = contrasts.values[contrasts.first[t] : contrasts.first[t + 1]] @ weights.T
        # Minus the log-likelihood of the choice, for each draw.
        surprise = np.logaddexp.reduce(np.vstack([np.zeros(len(weights)), utility]), axis=0)
        if lapse > 0:
            surprise = -np.log((1 - lapse) * np.exp(-surprise) + lapse / (len(utility) + 1))
        scores[t] = np.log(len(weights)) - logsumexp(surprise)
    return scores
