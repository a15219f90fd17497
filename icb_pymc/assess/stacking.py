"""Weights of models by stacking: the mixture of their predictions under which the choices are most probable."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, minimize


def stacking_weights(scores: np.ndarray) -> np.ndarray:
    r"""Stacking weights (Yao et al., 2018) of models from their pointwise scores.

    .. math:: \arg\max_w \sum_t \log \sum_m w_m p_m(a_t), \quad w_m \ge 0, \quad \sum_m w_m = 1

    Models that predict the same share their weight equally.

    Parameters
    ----------
    scores : array (time, model)
        log p_m(a_t), each choice predicted without itself.

    Returns
    -------
    array (model,)

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> right = rng.random(4000) < 0.8
    >>> scores = np.log(np.where(right[:, None], [0.9, 0.5], [0.1, 0.5]))
    >>> stacking_weights(scores).round(2).tolist()
    [0.75, 0.25]
    """
    # Relative to the best model at each choice: differences count, and nothing underflows.
    probability = np.exp(scores - scores.max(axis=1, keepdims=True))
    models = probability.shape[1]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        mixture = np.maximum(probability @ weights, 1e-300)
        return float(-np.log(mixture).mean()), -(probability / mixture[:, None]).mean(axis=0)

    found = minimize(
        loss,
        np.full(models, 1 / models),
        jac=True,
        method="SLSQP",
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(np.ones(models), 1, 1),
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    weights = np.clip(found.x, 0, 1)
    return weights / weights.sum()
