"""The lines of the paper's tables: each algorithm as a model of the catalogue with its settings under a preset.

Preset ``paper`` is that of `fit`: hyperparameters, samplers and optimisers of the published experiments. Preset
``exact`` samples the posterior of the same models by the exact engine (two chains, see `Scale`):

- NB-ICB with the paper's covariances (5e-5 and 5e-4, moves of all weights together damped a hundredfold) and its
  start at -1/k. Both say that weights are negative and sum to -1, which holds for the semi-synthetic agents alone.
  In the sudden changes and the history weights have either sign, so there (under both presets) the covariances are
  multiples of I, as the text of the paper has them, and the first belief is N(0, (2/k)^2 I), as are there the priors of
  the algorithms below;
- B-ICB with sigma = 0.10, alpha = 20, and under proper priors the reward parameter, N(-1/k, (2/k)^2 I), and the
  strength of the first belief, log-normal around 10;
- B-IRL, M-fold IRL, CP-IRL and I-SPI with alpha = 20 and the prior N(-1/k, (2/k)^2 I) of each vector of weights, in
  place of an improper one; the segments of CP-IRL by their evidence;
- T-REX with free weights, by Adam until 100 steps bring nothing, as the text of the paper has it.

Baseline is -1/k throughout; its choices are those of alpha = 0, all candidates alike, for that is evidently what the
paper's table on action matching reports (see `icb_pymc.assess.metrics.action_divergence`).
"""

from dataclasses import dataclass
from typing import Any

from icb_pymc.catalogue.lookup import find, name_of, settings
from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.environments import sudden_change, waiting_list
from icb_pymc.environments.allocation_history import ALPHA
from icb_pymc.errors import InputError
from icb_pymc.io.files import existing
from icb_pymc.reproduce.log import HISTORY, Log

# Logs whose weights have either sign, and the number of their features.
EITHER_SIGN = {"switching": len(sudden_change.FEATURES), HISTORY: len(waiting_list.FEATURES)}
# Models with hyperparameters that are learnt by default.
LEARNING = ("b_icb",)


@dataclass(frozen=True)
class Algorithm:
    """A line of a table.

    Attributes
    ----------
    label : str
        As in the paper.
    model : str
        Of the catalogue.
    settings : tuple of (name, value)
        Given to the model.
    preset : {"paper"}, optional
        Of `fit`.
    paper_priors : bool
        Take the hyperparameters of the preset `paper`, but not its sampler.
    is_sampled : bool
        Whether it has draws, whose number is a setting.
    file_digest : str, optional
        Of a model of one's own, which is given by its path: what its file hashes to.
    """

    label: str
    model: str
    settings: tuple[tuple[str, Any], ...] = ()
    preset: str | None = None
    paper_priors: bool = False
    is_sampled: bool = True
    file_digest: str | None = None

    @property
    def has_segments(self) -> bool:
        """Whether the log is divided into segments, whose scores runs on the same log share."""
        return any(name == "segments" for name, _ in self.settings)


def own_algorithm(path: str) -> Algorithm:
    """A model of one's own as a line of the tables; the same under either preset."""
    declare = find(path)
    settings(declare, {})
    # Not an underscore, which LaTeX would read as an index.
    label = name_of(declare).replace("_", "-")
    return Algorithm(label, str(existing(path).resolve()), file_digest=digest_of(path))


def algorithm(label: str, preset: str, log: Log) -> Algorithm:
    """The algorithm called `label` as it is run on `log` under a preset."""
    of_fit = "paper" if preset == "paper" else None
    plain = {"B-IRL": "b_irl", "I-SPI": "i_spi", "B-ICB": "b_icb"}
    if label == "Baseline":
        return Algorithm(label, "uniform", (("alpha", 0.0),), is_sampled=False)
    if label == "T-REX":
        return Algorithm(label, "t_rex", preset=of_fit, is_sampled=False)
    if label == "NB-ICB" and log.agent in EITHER_SIGN:
        return Algorithm(label, "nb_icb", priors_of_either_sign(log), of_fit)
    if label == "NB-ICB":
        return Algorithm(label, "nb_icb", preset=of_fit, paper_priors=preset == "exact")
    # The flat prior as published has no mean.
    mean = (("prior_mean", 0.0),) if preset == "exact" and log.agent in EITHER_SIGN else ()
    if label in plain:
        return Algorithm(label, plain[label], mean, of_fit)
    if label.endswith("-fold CP-IRL"):
        # Scores by the paper's random walk take T^3 / length^2 times 20,000 steps: three quarters of an hour if the
        # 2,500 decisions of the sudden changes are cut into tens, so there they are cut into fifties.
        length = max(10, log.steps // 50) if preset == "paper" else 10
        settings = (("segments", _folds(label, log.steps)), ("length", length))
        return Algorithm(label, "cp_irl", settings + mean, of_fit)
    if label.endswith("-fold IRL"):
        return Algorithm(label, "m_fold_irl", (("folds", _folds(label, log.steps)), *mean), of_fit)
    raise InputError(f"there is no algorithm called '{label}'.")


def priors_of_either_sign(log: Log) -> tuple[tuple[str, Any], ...]:
    """NB-ICB's hyperparameters where nothing is known of the signs of weights."""
    # The synthetic history has a milder softmax than the paper's agents.
    alpha = ALPHA if log.agent == HISTORY and log.file is None else 20.0
    return (
        ("alpha", alpha),
        ("innovation_covariance", 5e-5),
        ("sampling_covariance", 5e-4),
        ("start_mean", 0.0),
        ("start_covariance", (2 / EITHER_SIGN[log.agent]) ** 2),
    )


def _folds(label: str, steps: int) -> int:
    number = label.partition("-")[0]
    return steps if number == "T" else int(number)
