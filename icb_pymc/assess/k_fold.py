"""K-fold cross-validation: choices are left out a tenth at a time, and predicted from all others."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from rich.progress import track

from icb_pymc.assess.comparison import check_same, score_table
from icb_pymc.assess.trace_models import model_of_trace
from icb_pymc.catalogue.lookup import find, name_of, settings
from icb_pymc.data.decisions import validate
from icb_pymc.data.sessions import seen
from icb_pymc.declare.spec import Declare, spec_of
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.io.forks import in_forks
from icb_pymc.io.machine import usable_cores
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import decisions_in
from icb_pymc.sample.fitting import fit
from icb_pymc.sample.hyperpriors import declare_with_priors
from icb_pymc.sample.pointwise import pointwise
from icb_pymc.sample.quiet import quiet_pymc
from icb_pymc.sample.seeds import only_seed

FOLDS = 10
# Of each fit: enough for a mean of probabilities.
DRAWS: dict[str, dict[str, Any]] = {"laplace": {"draws": 400}, "mcmc": {"draws": 250, "tune": 250, "chains": 2}}


class Task(NamedTuple):
    """One fit.

    Attributes
    ----------
    name : of the model
    declare, given, learn : as in `icb_pymc.fit`
    method : "laplace" or "mcmc"
    decisions : the whole log
    is_out : (time,), the choices left out
    seed : of the fit
    """

    name: str
    declare: Declare
    given: dict[str, Any]
    learn: Sequence[str]
    method: str
    decisions: xr.Dataset
    is_out: np.ndarray
    seed: int


def k_fold(
    model: str | Path | Declare,
    decisions: xr.Dataset,
    hyperparameters: Mapping[str, Any] | None = None,
    *,
    folds: int = FOLDS,
    blocks: bool = False,
    method: str = "laplace",
    learn: Sequence[str] = (),
    random_seed: int | None = None,
    cores: int | None = None,
    progressbar: bool = False,
    seed: int | None = None,
) -> xr.DataArray:
    """Log probability of each choice given those in other folds, as in PsyTrack's cross-validation (Roy et al., 2021).

    The model is fitted once for each fold, without the choices in it; time passes as if these decisions had been
    missed. What a learner observed stays as it is. The choices are then predicted by the draws of the beliefs at their
    times, rho_t integrated out.

    Parameters
    ----------
    model : str, path or callable
        As in `icb_pymc.fit`.
    decisions : Dataset
    hyperparameters : mapping, optional
        As in `icb_pymc.fit`.
    folds : int
        Into how many parts the choices are divided.
    blocks : bool
        Leave out stretches of successive choices; by default choices at random, which are easier to predict, since
        their neighbours are known.
    method : {"laplace", "mcmc"}
        How each fit is made, see `icb_pymc.fit`.
    learn : sequence of str
        As in `icb_pymc.fit`.
    random_seed : int, optional
        Seed of the folds and of the fits, 0 by default. `seed` is accepted too.
    cores : int, optional
        Fits at a time; by default as many as there are cores. The numbers are the same for any number.
    progressbar : bool
        Show one.
    seed : int, optional
        Another name of `random_seed`.

    Returns
    -------
    DataArray (time)
        Zero where there was nothing to choose. The coordinate `fold` says in which part a choice is, -1 for none.

    Raises
    ------
    InputError
        If the model or an option is unknown, the method does not suit the model, the model computes something from all
        choices beforehand, or there are fewer choices than folds.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> contexts = rng.normal(size=(40, 2, 2))
    >>> decisions = icb_pymc.from_arrays(contexts, contexts[:, :, 0].argmax(axis=1))
    >>> scores = icb_pymc.k_fold("nb_icb", decisions, folds=4, cores=1)
    >>> bool(scores.mean() > np.log(0.5))
    True
    """
    declare, given = find(model), dict(hyperparameters or {})
    settings(declare, given)
    random_seed = only_seed(random_seed, seed) or 0
    validate(decisions)
    fold = folds_of(decisions, folds, blocks, random_seed)
    tasks = _tasks(name_of(declare), declare, given, learn, method, decisions, fold, random_seed)
    scores = _scores(tasks, cores, progressbar)[name_of(declare)]
    coords = {"time": decisions["time"].values, "fold": ("time", fold)}
    return xr.DataArray(scores, coords, ["time"], "log_predictive", attrs={"model": name_of(declare)})


def compare_folds(
    traces: Mapping[str, InferenceData],
    *,
    folds: int = FOLDS,
    blocks: bool = False,
    method: str | None = None,
    random_seed: int | None = None,
    cores: int | None = None,
    progressbar: bool = False,
    seed: int | None = None,
) -> pd.DataFrame:
    """Compare the models of traces by k-fold cross-validation of the decisions in the traces.

    Only the models and hyperparameters of the traces are used, not their draws. All models leave out the same choices.

    Parameters
    ----------
    traces : mapping of str to InferenceData
        Two fits or more by name.
    folds, blocks
        As in `icb_pymc.k_fold`.
    method : {"laplace", "mcmc"}, optional
        How the models are fitted; by default as the traces were.
    random_seed : int, optional
        Seed of the folds and of the fits, 0 by default. `seed` is accepted too.
    cores : int, optional
        Fits at a time; by default as many as there are cores.
    progressbar : bool
        Show one.
    seed : int, optional
        Another name of `random_seed`.

    Returns
    -------
    DataFrame
        One row per model, best first: `elpd`, the sum of log p(a_t | choices in other folds), and its standard error
        `se`; `elpd_diff`, how much lower it is than that of the best model, and its standard error `dse`;
        `per_choice`, the mean over choices, and `probability`, its exponential.

    Raises
    ------
    InputError
        If there are fewer than two traces, they are of different decisions, or a model cannot be fitted again.

    See Also
    --------
    compare : Compare by leave-one-out cross-validation, without fitting again.
    compare_ahead : Compare forecasts.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> contexts = rng.normal(size=(40, 2, 2))
    >>> decisions = icb_pymc.from_arrays(contexts, contexts[:, :, 0].argmax(axis=1))
    >>> options = {"draws": 10, "random_seed": 0, "progressbar": False}
    >>> traces = {"nb_icb": icb_pymc.fit("nb_icb", decisions, method="laplace", **options)}
    >>> traces["uniform"] = icb_pymc.fit("uniform", decisions, **options)
    >>> table = icb_pymc.compare_folds(traces, folds=4, cores=1)
    >>> table.columns.tolist()
    ['elpd', 'se', 'elpd_diff', 'dse', 'per_choice', 'probability']
    >>> table.index.tolist()
    ['nb_icb', 'uniform']
    """
    random_seed = only_seed(random_seed, seed) or 0
    check_same(traces)
    first = decisions_in(next(iter(traces.values())))
    fold = folds_of(first, folds, blocks, random_seed)
    tasks: list[Task] = []
    for name, trace in traces.items():
        declare, given, learn = model_of_trace(trace, "be fitted again", "icb_pymc.k_fold")
        how = method or ("laplace" if trace.attrs.get("method") == "laplace" else "mcmc")
        tasks += _tasks(name, declare, given, learn, how, decisions_in(trace), fold, random_seed)
    scores = {name: each[fold >= 0] for name, each in _scores(tasks, cores, progressbar).items()}
    means = {name: float(each.mean()) for name, each in scores.items()}
    return score_table(
        scores, {name: {"per_choice": mean, "probability": float(np.exp(mean))} for name, mean in means.items()}
    )


def folds_of(decisions: xr.Dataset, folds: int, blocks: bool, seed: int) -> np.ndarray:
    """The fold of each decision (time,), all of nearly the same size; -1 where there was nothing to choose.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0], [0.0]]] * 6, [0, 1, 0, 1, 0, 1])
    >>> folds_of(decisions, 3, True, 0)
    array([0, 0, 1, 1, 2, 2])
    """
    is_open = seen(decisions).sum(axis=1) > 1
    count = int(is_open.sum())
    if not isinstance(folds, (int, np.integer)) or not 2 <= folds <= count:
        raise InputError(f"folds={folds}: give a whole number from 2 to {count}, the number of choices.")
    of_choice = np.arange(count) * folds // count
    fold = np.full(len(is_open), -1)
    fold[is_open] = of_choice if blocks else np.random.default_rng(seed).permutation(of_choice)
    return fold


def _tasks(
    name: str,
    declare: Declare,
    given: dict[str, Any],
    learn: Sequence[str],
    method: str,
    decisions: xr.Dataset,
    fold: np.ndarray,
    seed: int,
) -> list[Task]:
    if method not in DRAWS:
        raise InputError(f"method={method!r}: it must be {' or '.join(map(repr, DRAWS))}.")
    spec = spec_of(declare)
    if spec.hindsight is not None:
        raise InputError(f"'{name}' cannot be cross-validated: {spec.hindsight}.")
    if spec.estimate is not None:
        raise InputError(f"'{name}' cannot be cross-validated: it has a point estimate, not a posterior.")
    return [
        Task(
            name,
            declare,
            given,
            learn,
            method,
            decisions,
            fold == number,
            int(np.random.SeedSequence([seed, number]).generate_state(1)[0]),
        )
        for number in range(fold.max() + 1)
    ]


def _scores(tasks: list[Task], cores: int | None, progressbar: bool) -> dict[str, np.ndarray]:
    """Log probabilities of all choices, by model."""
    if cores is not None and cores < 1:
        raise InputError(f"cores={cores}: give at least one.")
    scores = {task.name: np.zeros(len(task.is_out)) for task in tasks}
    with quiet_pymc():
        for task, values in zip(tasks, _run(tasks, cores or usable_cores(), progressbar), strict=True):
            scores[task.name][task.is_out] = values
    return scores


def _run(tasks: list[Task], cores: int, progressbar: bool) -> Iterator[np.ndarray]:
    """The results of all tasks in order; processes are forked, so that models need not be found again."""

    def results() -> Iterator[np.ndarray]:
        # The first one compiles, and refuses what cannot be fitted, before there are processes.
        yield predict(tasks[0])
        others = range(1, len(tasks))
        yield from in_forks(lambda number: predict(tasks[number]), others, min(cores, len(others)))

    yield from track(results(), "folds", len(tasks), disable=not progressbar, transient=True)


def predict(task: Task) -> np.ndarray:
    """log p(a_t | choices in other folds) of the choices left out, in order of time."""
    decisions = task.decisions
    slots = np.arange(decisions.sizes["action"])
    # With the chosen candidate alone a choice says nothing, and what followed from it stays as it was.
    alone = decisions["chosen"].values[:, None] == slots
    available = np.where(task.is_out[:, None], alone, decisions["available"].values)
    training = decisions.assign(available=(("time", "action"), available))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        trace = fit(
            task.declare,
            training,
            task.given,
            learn=task.learn,
            method=task.method,
            **DRAWS[task.method],
            cores=1,
            random_seed=task.seed,
            every=1,
            dtype="float64",
            keep_latents=True,
            log_likelihood=False,
            progressbar=False,
        )
        model = declare_with_priors(task.declare, decisions, task.given, task.learn)
        choices = pointwise(model, group(trace, "posterior"))
    if choices is None:
        raise InputError(f"'{task.name}' cannot be cross-validated: it has no likelihood of choices.")
    values = choices.log_likelihood.reshape(-1, len(task.is_out))[:, task.is_out]
    return np.logaddexp.reduce(values, axis=0) - np.log(len(values))
