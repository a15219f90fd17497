"""How a report was made: model and priors in words and as an equation, sampler, versions, commands, references."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from markupsafe import Markup

import icb_pymc
from icb_pymc.assess.weights import mean_lapse
from icb_pymc.reports.wording import say_count, say_moment, say_number
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.registry import registered_as

# What each model of the package assumes.
MODELS = {
    "nb_icb": "NB-ICB: the weights of features move slowly in a random walk; how the decision-maker learns is left "
    "open.",
    "hierarchical_nb_icb": "Hierarchical NB-ICB: all decision-makers share a trend, which is a random walk, and each "
    "of them deviates from it.",
    "shrinkage_nb_icb": "NB-ICB with shrinkage: weights mostly stand still, and sometimes jump.",
    "b_icb": "B-ICB: the decision-maker is a Bayesian learner of an unknown reward, whose beliefs follow from what was "
    "observed.",
}
SMOOTH = ("nb_icb", "hierarchical_nb_icb", "b_icb")

BIBTEX = """@inproceedings{huyuk2022inverse,
  title     = {Inverse Contextual Bandits: Learning How Behavior Evolves over Time},
  author    = {H{\\"u}y{\\"u}k, Alihan and Jarrett, Daniel and van der Schaar, Mihaela},
  booktitle = {Proceedings of the 39th International Conference on Machine Learning},
  year      = {2022}
}"""

# Hyperparameters in words.
HYPERPARAMETERS = {
    "alpha": "Inverse temperature α: how consistently the best candidate is chosen",
    "lapse": "Probability λ of a lapse: a choice made at random, whatever the candidates are",
    "start_mean": "Mean of the first weights",
    "start_covariance": "Variance of the first weights",
    "start_scale": "Scale of the first weights, in log-odds per typical difference",
    "total_movement": "How far weights typically move over the whole log, in log-odds per typical difference",
    "innovation_covariance": "Variance of the move from one decision to the next (or per unit of time), Σ_B",
    "sampling_covariance": "Variance of what is acted upon around the weights, Σ_P",
    "unit_of_time": "Unit of time of the moves",
    "deviation_scale": "How far decision-makers deviate from the trend, in log-odds per typical difference",
    "deviation_covariance": "Variance of the deviations from the trend",
    "deviation_innovation_covariance": "Variance of the moves of the deviations",
    "sigma": "Standard deviation σ of the rewards that the learner observes",
    "strength": "Strength s of the learner's first belief, in observations",
    "rho_env": "The reward that the learner learns",
}


def _subscript(symbol: str, index: str = "<mi>t</mi>") -> str:
    return f"<msub><mi>{symbol}</mi>{index}</msub>"


_PREVIOUS = "<mrow><mi>t</mi><mo>−</mo><mn>1</mn></mrow>"
_SOFTMAX = (
    f"<mi>softmax</mi><mo>(</mo><mi>α</mi><mo>⟨</mo>{_subscript('ρ')}<mo>,</mo>"
    f"{_subscript('x')}<mo>(</mo><mi>a</mi><mo>)</mo><mo>⟩</mo><mo>)</mo>"
)
_CHOICE = f"<mrow>{_subscript('a')}<mo>~</mo>{_SOFTMAX}</mrow>"
_LAPSING = (
    f"<mrow>{_subscript('a')}<mo>~</mo><mo>(</mo><mn>1</mn><mo>−</mo><mi>λ</mi><mo>)</mo>{_SOFTMAX}<mo>+</mo>"
    f"<mi>λ</mi><mo>/</mo>{_subscript('n')}</mrow>"
)


def _normal(left: str, mean: str, spread: str) -> str:
    return f"<mrow>{left}<mo>~</mo><mi>N</mi><mo>(</mo>{mean}<mo>,</mo>{spread}<mo>)</mo></mrow>"


_WALK = _normal(_subscript("β"), _subscript("β", _PREVIOUS), _subscript("Σ", "<mi>B</mi>"))
_SAMPLED = _normal(_subscript("ρ"), _subscript("β"), _subscript("Σ", "<mi>P</mi>"))
_TREND = _normal(_subscript("μ"), _subscript("μ", _PREVIOUS), _subscript("Σ", "<mi>B</mi>"))
_OWN = (
    f"<mrow>{_subscript('β')}<mo>=</mo>{_subscript('μ')}<mo>+</mo>"
    f"{_subscript('δ', '<mrow><mi>j</mi><mo>(</mo><mi>t</mi><mo>)</mo></mrow>')}</mrow>"
)
_JUMP = (
    f"<mrow>{_subscript('β')}<mo>=</mo>{_subscript('β', _PREVIOUS)}<mo>+</mo><mi>τ</mi>{_subscript('λ')}"
    f"{_subscript('e')}</mrow>"
)
_LEARNER = _normal(
    _subscript("r"),
    f"<mrow><mo>⟨</mo>{_subscript('ρ', '<mi>env</mi>')}<mo>,</mo>"
    f"{_subscript('x')}<mo>(</mo>{_subscript('a')}<mo>)</mo><mo>⟩</mo></mrow>",
    "<msup><mi>σ</mi><mn>2</mn></msup>",
)
EQUATIONS = {
    "nb_icb": [_WALK, _SAMPLED],
    "hierarchical_nb_icb": [_TREND, _OWN, _SAMPLED],
    "shrinkage_nb_icb": [_JUMP, _SAMPLED],
    "b_icb": [_LEARNER, _SAMPLED],
}


def equations(trace: InferenceData) -> list[Markup]:
    """The model as MathML, one formula to an entry; none for a model that is not of this package."""
    formulas = EQUATIONS.get(str(trace.attrs.get("model")))
    if formulas is None:
        return []
    choice = _LAPSING if mean_lapse(trace) > 0 else _CHOICE
    # Only constants of this module go in.
    return [Markup(f'<math display="block">{formula}</math>') for formula in [*formulas, choice]]


def settings_of(trace: InferenceData) -> dict[str, str]:
    """Hyperparameters with their values, and those learnt from the log with median and 90% interval."""
    rows = {words_for(name): _say_setting(value) for name, value in _hyperparameters(trace).items()}
    for name, draws in group(trace, "posterior").data_vars.items():
        if draws.dims == ("chain", "draw"):
            low, middle, high = (float(value) for value in draws.quantile([0.05, 0.5, 0.95]))
            learnt = f"{say_number(middle)} (90% interval {say_number(low)} to {say_number(high)})"
            rows[words_for(str(name))] = f"learnt from the log: {learnt if low < high else say_number(middle)}"
    return rows


def words_for(name: str) -> str:
    """What a hyperparameter is, with its name."""
    return f"{HYPERPARAMETERS[name]} ({name})" if name in HYPERPARAMETERS else name


def sampler_of(trace: InferenceData) -> str:
    """How the posterior was computed, in a sentence."""
    attrs = trace.attrs
    if str(attrs.get("approximation", "none")) == "laplace":
        return (
            "The posterior was approximated by Laplace's method: independent draws from the Gaussian around its mode, "
            "with the scales of the prior at their most probable values."
        )
    posterior = group(trace, "posterior").sizes
    drawn = f"{say_count(posterior['chain'], 'chain')} of {say_count(posterior['draw'], 'draw')} kept"
    kernel = {
        "engine": "an exact Hamiltonian sampler for linear-Gaussian beliefs (UtilityHMC)",
        "gibbs": "alternating Gibbs and Metropolis steps",
        "paper": "the alternating steps printed in the paper",
        "nuts": "the No-U-Turn sampler of PyMC",
        "nutpie": "the No-U-Turn sampler nutpie",
    }.get(str(attrs.get("kernel")), f"method '{attrs.get('method', 'unknown')}'")
    tuned = f", after {say_count(int(attrs['tune']), 'step')} of tuning each" if attrs.get("tune") else ""
    return f"The posterior was sampled by {kernel}: {drawn}{tuned}."


def shape_of(decisions: xr.Dataset) -> str:
    """The log in a sentence."""
    time = decisions["time"].values
    several = "up to " if not decisions["available"].values.all() else ""
    sentence = (
        f"{say_count(decisions.sizes['time'], 'decision')}, {say_moment(time[0])} to {say_moment(time[-1])}, among "
        f"{several}{say_count(decisions.sizes['action'], 'candidate')} with "
        f"{say_count(decisions.sizes['feature'], 'feature')}"
    )
    if "decider" in decisions:
        sentence += f", made by {say_count(decisions.sizes['agent'], 'decision-maker')}"
    return sentence


def versions_of(trace: InferenceData) -> dict[str, str]:
    """Versions that made the trace, and the one that made the report."""
    try:
        versions = dict(json.loads(trace.attrs.get("versions", "{}")))
    except (TypeError, ValueError):
        versions = {}
    made = {"icb_pymc (trace)": trace.attrs.get("icb_pymc", "unknown"), **versions}
    return {str(name): str(version) for name, version in {**made, "icb_pymc (report)": icb_pymc.__version__}.items()}


def commands(trace: InferenceData, source: str | Path | None, options: list[str]) -> list[str]:
    """The commands that make the trace and the report again.

    Parameters
    ----------
    trace : InferenceData
    source : path, optional
        File of the trace; if it is a registered one, the registry has the commands that made it.
    options : list of str
        Options of ``icb report``.
    """
    name = Path(source).name if source else "trace.nc"
    known = registered_as(Path(source)) if source and Path(source).is_file() else None
    made = list(known.made_by) if known else [fit_command(trace, name)]
    words = " ".join(shlex.quote(word) for word in ["icb", "report", name, *options, "-o", "report.html"])
    return [*made, words]


def fit_command(trace: InferenceData, name: str) -> str:
    """The command of the fit; the name of the log is not in a trace, so it is called ``log.csv``."""
    attrs = trace.attrs
    words = ["icb", "fit", str(attrs.get("model", "model")), "log.csv"]
    if attrs.get("preset") not in (None, "none"):
        words += ["--preset", str(attrs["preset"])]
    else:
        for setting, value in _hyperparameters(trace).items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                words += ["--set", f"{setting}={value:g}"]
    for option in ("method", "kernel", "chains", "draws", "tune", "seed"):
        value = attrs.get(option)
        laplace = attrs.get("method") == "laplace" and option in ("kernel", "chains", "tune")
        if value not in (None, "none") and not laplace:
            words += [f"--{option}", str(value)]
    return " ".join(shlex.quote(word) for word in [*words, "-o", name])


def methods_paragraph(trace: InferenceData, decisions: xr.Dataset, ci_prob: float) -> str:
    """A paragraph for a paper."""
    model = str(trace.attrs.get("model", "model"))
    words = MODELS.get(model, f"the model '{model}'.").rstrip(".")
    return (
        f"We analysed {shape_of(decisions)}, by inverse contextual bandits (Hüyük, Jarrett and van der Schaar, 2022) "
        f"with icb_pymc {trace.attrs.get('icb_pymc', icb_pymc.__version__)}. Model: {words}. {sampler_of(trace)} "
        "Weights are log-odds per standard deviation of a feature. For each event, fixed beforehand, we compared the "
        "mean weights before and after it, and three accounts of the choices by their evidence: a step at the event, "
        "drift without a step, and no change. Verdicts count how many changes were asked about; intervals are central "
        f"{ci_prob:.0%} credible intervals.{_on_lapses(trace)}"
    )


def _on_lapses(trace: InferenceData) -> str:
    """Which parts of a report count lapses."""
    lapse = mean_lapse(trace)
    if lapse == 0:
        return ""
    return (
        f" Choices lapse, which is to say that they are made at random, with a probability of {lapse:.1%} (the mean of "
        "the fit); the accounts take it as known, and dates of change were searched for as if there were no lapses."
    )


def _hyperparameters(trace: InferenceData) -> Mapping[str, Any]:
    try:
        given = json.loads(trace.attrs.get("hyperparameters", "{}"))
    except (TypeError, ValueError):
        return {}
    given = given if isinstance(given, dict) else {}
    return {str(name): value for name, value in given.items() if value is not None}


def _say_setting(value: Any) -> str:
    if isinstance(value, (int, float)):
        return say_number(float(value))
    if isinstance(value, list):
        array = np.asarray(value, dtype=object)
        return f"an array of {' by '.join(str(size) for size in array.shape)}" if array.size > 4 else str(value)
    return str(value)
