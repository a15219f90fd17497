"""One belief path from several models: their draws mixed in proportion to how well each explains the choices."""

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.special import softmax

from icb_pymc import __version__
from icb_pymc.assess.comparison import ahead_scores, check_same, loo_scores, score_table
from icb_pymc.assess.diagnosis import diagnose
from icb_pymc.assess.stacking import stacking_weights
from icb_pymc.assess.weights import alpha_of
from icb_pymc.data.schema import DECISION_GROUPS
from icb_pymc.errors import InputError
from icb_pymc.io.attributes import as_json
from icb_pymc.results.inference_data import InferenceData, from_groups, group, group_names
from icb_pymc.results.posterior import at_kept_times, decisions_in, draws_of
from icb_pymc.sample.seeds import only_seed

SCORES = ("evidence", "ahead", "loo")
HINDSIGHT = "the weights of the models were chosen by how well they predict these choices"


def average(
    traces: Mapping[str, InferenceData] | Sequence[InferenceData],
    *,
    score: str = "evidence",
    random_seed: int | None = None,
    progressbar: bool = False,
    seed: int | None = None,
) -> InferenceData:
    r"""Average the beliefs of several models of the same decisions, weighted by how well they explain the choices.

    By default the weights are the posterior probabilities of the models, equal before the choices, with which their
    log evidence is

    .. math:: \log p_m(a_1, \ldots, a_T) = \sum_t \log p_m(a_t \mid a_1, \ldots, a_{t-1})

    Otherwise they are those of stacking (Yao et al., 2018), the mixture under which the choices are most probable,

    .. math:: \operatorname{argmax}_w \sum_t \log \sum_m w_m p_m(a_t \mid \text{others})

    where the others are the choices before (``"ahead"``) or all other choices (``"loo"``). Each chain of the average
    takes from the same chain of each model a share of draws equal to its weight, in an order drawn at random. Beliefs
    are multiplied by alpha first: those of the average are weights in log-odds, and its alpha is 1.

    Parameters
    ----------
    traces : mapping of str to InferenceData, or sequence
        Two fits or more of the same decisions; in a sequence they are called after their models.
    score : {"evidence", "ahead", "loo"}
        Weigh the models by the evidence of all choices; by one-step-ahead forecasts as in `icb_pymc.compare_ahead`; or
        by leaving out one choice at a time as in `icb_pymc.compare`, whose estimate is often unreliable where beliefs
        move (its `high_k`).
    random_seed : int, optional
        Seed of the order of draws, 0 by default. `seed` is accepted too.
    progressbar : bool
        Show progress of the forecasts.
    seed : int, optional
        Another name of `random_seed`.

    Returns
    -------
    InferenceData (DataTree on PyMC 6)
        A trace like that of a fit: `belief` at the times that all traces keep, `rho_env` (times alpha too) if all
        models have it, log-likelihoods and choice probabilities if all have them, and the decisions. Its attribute
        ``averaged`` is JSON: the score, the weight of each model, its sum of scores `elpd` (by ``"evidence"`` the log
        evidence) and standard error `se`, the `draws` taken per chain, its hyperparameters, its seed and a checksum of
        its beliefs; ``left_out`` says what not all models have.

    Raises
    ------
    InputError
        If there are fewer than two traces, they are of different decisions or features or keep no time in common, a
        model has no beliefs, or the score cannot be computed.

    See Also
    --------
    compare, compare_ahead : The scores.

    Notes
    -----
    R-hat of a mixture says little about its models: they may differ by more than the chains of one of them do.
    Therefore each model is diagnosed by itself first, and `icb_pymc.diagnose` calls the average converged only if all
    models with draws in it have converged. `icb_pymc.compare` reads the weights of an average as posterior
    probabilities of the models, and its score is then at most that of the mixture.

    Examples
    --------
    >>> import icb_pymc, json
    >>> decisions = icb_pymc.simulate("stepping", steps=60, random_seed=0)
    >>> options = {"draws": 50, "random_seed": 0, "progressbar": False}
    >>> traces = {"walk": icb_pymc.fit("nb_icb", decisions, method="laplace", **options)}
    >>> traces["equal weights"] = icb_pymc.fit("uniform", decisions, **options)
    >>> trace = icb_pymc.average(traces)
    >>> dict(trace.posterior["belief"].sizes)
    {'chain': 1, 'draw': 50, 'time': 60, 'feature': 8}
    >>> models = json.loads(trace.attrs["averaged"])["models"]
    >>> round(sum(model["weight"] for model in models.values()), 6)
    1.0
    """
    if score not in SCORES:
        raise InputError(f"score={score!r}: it must be {' or '.join(repr(word) for word in SCORES)}.")
    random_seed = only_seed(random_seed, seed) or 0
    named = _by_name(traces)
    check_same(named)
    _check_same_features(named)
    beliefs = _in_log_odds(named)
    if score == "loo":
        scores, rows = loo_scores(named)
    else:
        # Evidence counts the first forecasts too, which rest on the prior alone.
        scores, rows = ahead_scores(named, start=0 if score == "evidence" else None, progressbar=progressbar)
    pointwise = np.column_stack(list(scores.values()))
    weights = softmax(pointwise.sum(axis=0)) if score == "evidence" else stacking_weights(pointwise)
    shares = _allocate(weights, beliefs, np.random.default_rng(random_seed))

    groups, left_out = _mixed_groups(named, beliefs, weights, shares)
    table = score_table(scores, rows)
    models = {
        name: {"weight": float(weight), "draws": share.draws} | table.loc[name].to_dict() | _provenance(trace)
        for (name, trace), weight, share in zip(named.items(), weights, shares, strict=True)
    }
    shown = [f"{name} ({weight:.0%})" for name, weight in zip(named, weights, strict=True)]
    attrs = {
        "model": f"average of {_listed(shown)}",
        "averaged": as_json({"score": score, "models": models}),
        "hyperparameters": as_json({"alpha": 1.0}),
        "method": "average",
        "kernel": "none",
        "preset": "none",
        "seed": random_seed,
        "draws": groups["posterior"].sizes["draw"],
        "chains": groups["posterior"].sizes["chain"],
        "icb_pymc": __version__,
        "hindsight": HINDSIGHT,
    }
    if left_out:
        attrs["left_out"] = "; ".join(left_out)
    counted = {name: trace for (name, trace), share in zip(named.items(), shares, strict=True) if share.draws}
    return from_groups(groups, attrs | _reservations(counted))


class _Share(NamedTuple):
    """Which draws of a model go where in the average: `draws` per chain, and index arrays (chain, draw)."""

    draws: int
    source: tuple[np.ndarray, ...]
    target: tuple[np.ndarray, ...]


def _by_name(traces: Mapping[str, InferenceData] | Sequence[InferenceData]) -> dict[str, InferenceData]:
    """Traces of a sequence by the names of their models, numbered where these are the same."""
    if isinstance(traces, Mapping):
        return dict(traces)
    named: dict[str, InferenceData] = {}
    for trace in traces:
        model = str(trace.attrs.get("model", "model"))
        same = sum(str(other.attrs.get("model", "model")) == model for other in named.values())
        named[f"{model} {same + 1}" if same else model] = trace
    return named


def _check_same_features(traces: Mapping[str, InferenceData]) -> None:
    first, *others = traces
    expected = decisions_in(traces[first])
    for name in others:
        decisions = decisions_in(traces[name])
        for part in ("feature", "context"):
            if not np.array_equal(decisions[part].values, expected[part].values, equal_nan=part == "context"):
                raise InputError(
                    f"'{first}' and '{name}' were fitted with different features, or with features on different "
                    "scales, so their weights cannot be averaged; fit them to the same file of decisions."
                )


def _in_log_odds(traces: Mapping[str, InferenceData]) -> list[xr.DataArray]:
    """alpha times the beliefs (chain, draw, time, feature) of each model, at the times that all of them keep."""
    decisions = decisions_in(next(iter(traces.values())))
    number = xr.DataArray(np.arange(decisions.sizes["time"]), {"time": decisions["time"].values}, ["time"])
    beliefs = {name: draws_of(trace, "belief") for name, trace in traces.items()}
    kept = {name: at_kept_times(number, belief).values for name, belief in beliefs.items()}
    common = reduce(np.intersect1d, kept.values())
    if not len(common):
        raise InputError(f"{_listed(list(traces))} keep no time in common; fit them again with the same times.")
    labels = {"time": decisions["time"].values[common], "feature": decisions["feature"].values}
    scaled = []
    for name, trace in traces.items():
        at_common = beliefs[name].isel(time=np.searchsorted(kept[name], common)).drop_vars("position", errors="ignore")
        weights = (alpha_of(trace) * at_common).transpose("chain", "draw", "time", "feature").assign_coords(labels)
        scaled.append(weights.assign_coords(position=("time", common)).rename("belief"))
    return scaled


def _allocate(weights: np.ndarray, draws: Sequence[xr.DataArray], rng: np.random.Generator) -> list[_Share]:
    """Draws of each model for each chain of the average, evenly spaced and in their own order.

    There are as many chains as every model has; a model with more of them appends the rest to the first ones. The
    number of draws per chain is the largest of any model, and a model that has fewer than its share repeats them.
    """
    chains = min(values.sizes["chain"] for values in draws)
    length = max(values.sizes["draw"] for values in draws)
    # Largest remainders: whole numbers that add up, as near to the weights as possible.
    number = np.floor(weights * length).astype(int)
    rest = weights * length - number
    number[np.argsort(-rest, kind="stable")[: length - number.sum()]] += 1
    owner = [rng.permutation(np.repeat(np.arange(len(weights)), number)) for _ in range(chains)]
    shares = []
    for m, values in enumerate(draws):
        source_chain, source_draw = [], []
        for chain in range(chains):
            own = np.arange(chain, values.sizes["chain"], chains)
            position = np.arange(number[m]) * len(own) * values.sizes["draw"] // max(number[m], 1)
            source_chain.append(own[position // values.sizes["draw"]])
            source_draw.append(position % values.sizes["draw"])
        source = (np.concatenate(source_chain), np.concatenate(source_draw))
        shares.append(_Share(int(number[m]), source, np.nonzero(np.array(owner) == m)))
    return shares


def _mix(draws: Sequence[xr.DataArray], shares: Sequence[_Share]) -> xr.DataArray:
    """One array of draws (chain, draw, ...) from those of each model."""
    chains, length, first = (
        min(values.sizes["chain"] for values in draws),
        sum(share.draws for share in shares),
        draws[0],
    )
    mixed = np.empty((chains, length, *first.shape[2:]), np.result_type(*(values.dtype for values in draws)))
    for values, share in zip(draws, shares, strict=True):
        mixed[share.target] = values.values[share.source]
    coords = {name: values for name, values in first.coords.items() if not {"chain", "draw"} & set(values.dims)}
    labels = {"chain": np.arange(chains), "draw": np.arange(length)}
    return xr.DataArray(mixed, {**coords, **labels}, first.dims, first.name)


def _mixed_groups(
    traces: Mapping[str, InferenceData],
    beliefs: Sequence[xr.DataArray],
    weights: np.ndarray,
    shares: Sequence[_Share],
) -> tuple[dict[str, xr.Dataset], list[str]]:
    """The groups of the average, and in words what was left out because not all models have it."""
    posterior, left_out = {"belief": _mix(beliefs, shares)}, []
    without = [name for name, trace in traces.items() if "rho_env" not in group(trace, "posterior")]
    if not without:
        scaled = [alpha_of(trace) * draws_of(trace, "rho_env") for trace in traces.values()]
        posterior["rho_env"] = _mix([values.transpose("chain", "draw", "feature") for values in scaled], shares)
    elif len(without) < len(traces):
        left_out.append(f"rho_env (not estimated by {_listed(without)})")
    groups = {"posterior": xr.Dataset(posterior)}
    for part in ("log_likelihood", "choice_probabilities"):
        without = [name for name, trace in traces.items() if part not in group_names(trace)]
        if without:
            left_out.append(f"{part} (not in {_listed(without)})")
            continue
        parts = [group(trace, part) for trace in traces.values()]
        if part == "log_likelihood":
            draws = [each["chosen"].transpose("chain", "draw", "time") for each in parts]
            groups[part] = _mix(draws, shares).to_dataset(name="chosen").assign_attrs(parts[0].attrs)
        else:
            mixture = weights @ np.array([each["probability"].values.ravel() for each in parts])
            probability = parts[0]["probability"]
            groups[part] = parts[0].assign(probability=probability.copy(data=mixture.reshape(probability.shape)))
    first = next(iter(traces.values()))
    return groups | {name: group(first, name) for name in DECISION_GROUPS}, left_out


def _provenance(trace: InferenceData) -> dict[str, Any]:
    """How a model was fitted, and a checksum of its beliefs."""
    known = {name: trace.attrs[name] for name in ("model", "model_digest", "method", "seed") if name in trace.attrs}
    hyperparameters = json.loads(trace.attrs.get("hyperparameters", "{}"))
    digest = sha256(np.ascontiguousarray(draws_of(trace, "belief").values).tobytes()).hexdigest()
    return known | {"hyperparameters": hyperparameters, "sha256": digest}


def _reservations(traces: Mapping[str, InferenceData]) -> dict[str, Any]:
    """What must be known about the models in an average to judge it."""
    kinds = [str(trace.attrs.get("approximation", "none")) for trace in traces.values()]
    found = {
        "approximation": next((kind for kind in kinds if kind != "none"), "none"),
        "interrupted": max(int(trace.attrs.get("interrupted", 0)) for trace in traces.values()),
    }
    unconverged = []
    for (name, trace), kind in zip(traces.items(), kinds, strict=True):
        # A model without parameters is known exactly.
        if kind == "none" and trace.attrs.get("method") != "estimate":
            diagnosis = diagnose(trace)
            if not diagnosis.converged:
                unconverged.append(f"{name}: {diagnosis.verdict}")
    return found | ({"unconverged": "; ".join(unconverged)} if unconverged else {})


def _listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
