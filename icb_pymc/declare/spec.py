"""What the suite must know about a model beyond its graph: a spec on the function that declares it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from icb_pymc.errors import InputError

Declare = Callable[..., Any]
"""A model: a function ``decisions -> pm.Model`` whose keyword-only arguments are hyperparameters."""


class Preset(NamedTuple):
    """Hyperparameters and sampling options of a model in the published experiments.

    Attributes
    ----------
    hyperparameters : dict
        Arguments of the model.
    sampling : dict
        Options of `fit`, such as ``draws``.

    Examples
    --------
    >>> from icb_pymc.declare import Preset
    >>> Preset({"alpha": 20.0}, {"draws": 1000}).hyperparameters
    {'alpha': 20.0}
    """

    hyperparameters: dict[str, Any]
    sampling: dict[str, Any]


class Estimate(NamedTuple):
    """A point estimate of `rho_env`, `belief` or both.

    Attributes
    ----------
    values : dict of array
        The estimates by name: ``rho_env`` (feature,), ``belief`` (time, feature).
    how : str
        How they were computed, for the trace.

    Examples
    --------
    >>> import numpy as np
    >>> from icb_pymc.declare import Estimate
    >>> Estimate({"rho_env": np.array([-0.5, -0.5])}, "a guess").how
    'a guess'
    """

    values: dict[str, np.ndarray]
    how: str


@dataclass(frozen=True)
class ModelSpec:
    """What `fit`, `simulate` and others must know about a model that its graph does not contain.

    Attributes
    ----------
    paper : callable, optional
        ``paper(decisions) -> Preset``: the published settings, for ``fit(preset="paper")``.
    steps : callable, optional
        ``steps(model)``: step methods for all free variables or for some, instead of those that the suite chooses.
    estimate : callable, optional
        ``estimate(decisions, **hyperparameters) -> Estimate``: a point estimate, the default method of
        `fit` if given.
    em : callable, optional
        ``em(decisions, hyperparameters, as_published=...) -> dict``: settings of Algorithm 1, for ``method="em"``.
    scenario : callable, optional
        ``scenario(steps=..., actions=..., seed=..., transplants=..., quadratic=...) -> Dataset``: the arrivals that
        `simulate` lets the model choose from; by default the paper's semi-synthetic environment.
    hindsight : str, optional
        Why the model cannot forecast: which of its parts were computed from all choices, including later ones.

    Examples
    --------
    >>> from icb_pymc.declare import ModelSpec
    >>> ModelSpec(hindsight="its change points depend on later choices").estimate is None
    True
    """

    paper: Callable[..., Preset] | None = None
    steps: Callable[..., Any] | None = None
    estimate: Callable[..., Estimate] | None = None
    em: Callable[..., dict[str, Any]] | None = None
    scenario: Callable[..., Any] | None = None
    hindsight: str | None = None


def specify(declare: Declare | None = None, /, **fields: Any) -> Any:
    """Attach a `ModelSpec` to the function that declares a model, by a call or as a decorator.

    Parameters
    ----------
    declare : callable, optional
        The function. Omitted if `specify` is used as a decorator.
    **fields
        Fields of `ModelSpec`: paper, steps, estimate, em, scenario, hindsight.

    Returns
    -------
    callable
        The same function.

    Raises
    ------
    InputError
        If a field does not exist.

    Examples
    --------
    >>> from icb_pymc.declare import specify, spec_of
    >>> @specify(hindsight="its weights were chosen after looking at the log")
    ... def my_model(decisions): ...
    >>> spec_of(my_model).hindsight
    'its weights were chosen after looking at the log'
    """
    known = list(ModelSpec.__dataclass_fields__)
    unknown = sorted(set(fields) - set(known))
    if unknown:
        raise InputError(f"specify: there is no field '{unknown[0]}'; there are {', '.join(known)}.")
    spec = ModelSpec(**fields)

    def attach(function: Declare) -> Declare:
        function.icb_spec = spec  # type: ignore[attr-defined]
        return function

    return attach if declare is None else attach(declare)


def spec_of(declare: Declare) -> ModelSpec:
    """The spec of a model.

    Parameters
    ----------
    declare : callable
        The function that declares the model, or a `functools.partial` of it.

    Returns
    -------
    ModelSpec
        An empty one if none was attached.

    Examples
    --------
    >>> from functools import partial
    >>> from icb_pymc.declare import spec_of
    >>> from icb_pymc.models.irl import t_rex
    >>> spec_of(partial(t_rex, alpha=2.0)).estimate is not None
    True
    """
    while not hasattr(declare, "icb_spec") and isinstance(declare, partial):
        declare = declare.func
    spec = getattr(declare, "icb_spec", None)
    return spec if isinstance(spec, ModelSpec) else ModelSpec()


def bound_hyperparameters(declare: Declare) -> dict[str, Any]:
    """Hyperparameters that `functools.partial` has bound.

    Examples
    --------
    >>> from functools import partial
    >>> from icb_pymc.models import nb_icb
    >>> bound_hyperparameters(partial(nb_icb, alpha=5.0))
    {'alpha': 5.0}
    """
    bound: dict[str, Any] = {}
    while isinstance(declare, partial):
        bound = dict(declare.keywords) | bound
        declare = declare.func
    return bound


# The sampler of B-IRL and the models built from it: 10,000 iterations of burn-in, then every tenth of 10,000.
RANDOM_WALK: dict[str, Any] = {"draws": 1000, "tune": 1000, "sweeps": 10, "chains": 1, "kernel": "paper"}
