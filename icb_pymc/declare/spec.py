"""What a model says beyond its graph: a spec on the function that declares it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from icb_pymc.errors import InputError

Declare = Callable[..., Any]
"""A model: a function ``decisions -> pm.Model`` whose keyword-only arguments are hyperparameters."""


class Preset(NamedTuple):
    """Hyperparameters of a model, and how it is sampled, in the published experiments."""

    hyperparameters: dict[str, Any]
    sampling: dict[str, Any]


class Estimate(NamedTuple):
    """A point estimate: values of `rho_env` and/or `belief`, and a sentence on how they were computed."""

    values: dict[str, np.ndarray]
    how: str


@dataclass(frozen=True)
class ModelSpec:
    """What `fit`, `simulate` and others must know of a model that its graph does not say.

    Attributes
    ----------
    paper : callable, optional
        ``paper(decisions) -> Preset``: the published settings, for ``fit(preset="paper")``.
    steps : callable, optional
        ``steps(model)``: step methods for all free variables or for some, in place of those that the suite picks.
    estimate : callable, optional
        ``estimate(decisions, **hyperparameters) -> Estimate``: a point estimate, then the default method of `fit`.
    em : callable, optional
        ``em(decisions, hyperparameters, as_published=...) -> dict``: settings of Algorithm 1, for ``method="em"``.
    scenario : callable, optional
        ``scenario(steps=..., actions=..., seed=..., transplants=..., quadratic=...) -> Dataset``: the arrivals that
        `simulate` lets the model choose from; by default the paper's semi-synthetic environment.
    hindsight : str, optional
        Why the model cannot forecast: which of its parts were computed from all choices, later ones included.
    """

    paper: Callable[..., Preset] | None = None
    steps: Callable[..., Any] | None = None
    estimate: Callable[..., Estimate] | None = None
    em: Callable[..., dict[str, Any]] | None = None
    scenario: Callable[..., Any] | None = None
    hindsight: str | None = None


def specify(declare: Declare | None = None, /, **fields: Any) -> Any:
    """Attach a `ModelSpec` to the function that declares a model; a call or a decorator.

    Parameters
    ----------
    declare : callable
        The function. Left out where `specify` is used as a decorator.
    **fields
        Of `ModelSpec`: paper, steps, estimate, em, scenario, hindsight.

    Returns
    -------
    callable
        The same function.

    Raises
    ------
    InputError
        If there is no such field.

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
    """The spec of a model, also behind `functools.partial`; an empty one if it has none.

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
