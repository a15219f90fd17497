"""The rows of the paper's tables: each algorithm is a model of the catalogue with settings that depend on the preset.

Preset ``paper`` is that of `fit`: hyperparameters, samplers and optimisers of the published experiments. Preset
``exact`` samples the posterior of the same models by the exact engine (two chains, see `Scale`):

- the semi-synthetic agents have alpha = 20 and weights around -1/k, and every algorithm is told so: its priors have
  this mean. In the sudden changes and in the history, weights have either sign, and all means are zero;
- NB-ICB learns the scales of the first weights and of their movement, as by default; so does shrinkage NB-ICB, whose
  beliefs mostly stand still and sometimes jump, in the sudden changes;
- B-ICB has sigma = 0.10, and its first belief and the prior of the reward parameter are centred at -1/k; how strong
  that belief is and how far the reward parameter is from -1/k are learnt under the model's default priors;
- B-IRL, M-fold IRL, CP-IRL and I-SPI have alpha = 20 and the prior N(-1/k, (2/k)^2 I) for each vector of weights
  instead of an improper one; CP-IRL chooses its segments by their evidence;
- T-REX has free weights, fitted by Adam until 100 steps bring no improvement, as in the text of the paper.

Baseline is -1/k throughout. Its choices are those of alpha = 0, where all candidates are equally probable: evidently
this is what the paper's table on action matching reports (see `icb_pymc.assess.metrics.action_divergence`).
"""

import re
from dataclasses import dataclass
from typing import Any

from icb_pymc.catalogue.lookup import find, name_of, settings
from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.environments import sudden_change, waiting_list
from icb_pymc.environments.allocation_history import ALPHA
from icb_pymc.environments.optn import FEATURES
from icb_pymc.errors import InputError
from icb_pymc.io.files import existing
from icb_pymc.reproduce.log import HISTORY, Log

# Logs whose weights have either sign, and the number of their features.
EITHER_SIGN = {"switching": len(sudden_change.FEATURES), HISTORY: len(waiting_list.FEATURES)}
# Models that learn hyperparameters by default.
LEARNING = ("b_icb", "nb_icb", "shrinkage_nb_icb")
# Hexadecimal digits of a file's hash in the label of a user-defined model.
DIGEST_SHOWN = 6


@dataclass(frozen=True)
class Algorithm:
    """A row of a table.

    Attributes
    ----------
    label : str
        As in the paper; for a user-defined model its name and the beginning of `file_digest`, so that it differs from
        the paper's labels and from that of another file with the same name.
    model : str
        Name in the catalogue, or the path of the file of a user-defined model.
    settings : tuple of (name, value)
        Hyperparameters of the model.
    preset : {"paper"}, optional
        The preset of `fit`.
    paper_centre : bool
        Take alpha, sigma and the means of the priors from the preset `paper`, but no covariances and not its sampler.
    is_sampled : bool
        Whether it has draws, whose number is a setting.
    file_digest : str, optional
        Hash of the contents of a user-defined model's file.
    """

    label: str
    model: str
    settings: tuple[tuple[str, Any], ...] = ()
    preset: str | None = None
    paper_centre: bool = False
    is_sampled: bool = True
    file_digest: str | None = None

    @property
    def has_segments(self) -> bool:
        """Whether the log is divided into segments, whose scores are shared by runs on the same log."""
        return any(name == "segments" for name, _ in self.settings)

    @property
    def slug(self) -> str:
        """The label as part of a file name: lower case, words joined by hyphens."""
        return re.sub(r"\W+", "-", self.label.lower()).strip("-")


def user_algorithm(path: str) -> Algorithm:
    """A user-defined model as a row of the tables; it is run in the same way under both presets."""
    declare = find(path)
    settings(declare, {})
    digest = digest_of(path)
    # Hyphens, since LaTeX reads an underscore as a subscript.
    label = f"{name_of(declare).replace('_', '-')} ({digest[:DIGEST_SHOWN]})"
    return Algorithm(label, str(existing(path).resolve()), file_digest=digest)


def algorithm(label: str, preset: str, log: Log) -> Algorithm:
    """The algorithm called `label` as it is run on `log` under a preset."""
    fit_preset = "paper" if preset == "paper" else None
    plain = {"B-IRL": "b_irl", "I-SPI": "i_spi"}
    if label == "Baseline":
        return Algorithm(label, "uniform", (("alpha", 0.0),), is_sampled=False)
    if label == "T-REX":
        return Algorithm(label, "t_rex", preset=fit_preset, is_sampled=False)
    if label == "NB-ICB" and log.agent in EITHER_SIGN and preset == "paper":
        return Algorithm(label, "nb_icb", priors_of_either_sign(log), fit_preset)
    if label == "NB-ICB" and log.agent in EITHER_SIGN:
        return Algorithm(label, "nb_icb")
    if label == "Shrinkage NB-ICB" and log.agent in EITHER_SIGN:
        return Algorithm(label, "shrinkage_nb_icb")
    if label == "NB-ICB":
        return Algorithm(label, "nb_icb", preset=fit_preset, paper_centre=preset == "exact")
    if label == "B-ICB":
        return Algorithm(label, "b_icb", preset=fit_preset, paper_centre=preset == "exact")
    # The published prior is flat, so it has neither mean nor covariance.
    weights = () if preset == "paper" else prior_of_weights(log)
    if label in plain:
        return Algorithm(label, plain[label], weights, fit_preset)
    if label.endswith("-fold CP-IRL"):
        # Scoring by the paper's random walk takes T^3 / length^2 times 20,000 steps: 45 minutes for the 2,500 decisions
        # of the sudden changes in blocks of 10, so there the blocks have 50 decisions.
        length = max(10, log.steps // 50) if preset == "paper" else 10
        settings = (("segments", _folds(label, log.steps)), ("length", length))
        return Algorithm(label, "cp_irl", settings + weights, fit_preset)
    if label.endswith("-fold IRL"):
        return Algorithm(label, "m_fold_irl", (("folds", _folds(label, log.steps)), *weights), fit_preset)
    raise InputError(f"there is no algorithm called '{label}'.")


def prior_of_weights(log: Log) -> tuple[tuple[str, Any], ...]:
    """Hyperparameters of the algorithms that have a prior of weights: N(-1/k, (2/k)^2 I), or around 0."""
    features = EITHER_SIGN.get(log.agent, len(FEATURES))
    mean = 0.0 if log.agent in EITHER_SIGN else -1 / features
    return (("alpha", 20.0), ("prior_mean", mean), ("prior_covariance", (2 / features) ** 2))


def priors_of_either_sign(log: Log) -> tuple[tuple[str, Any], ...]:
    """NB-ICB's hyperparameters under the preset `paper` for logs whose weights may have either sign."""
    # Choices of the synthetic history follow the utilities less closely than those of the paper's agents.
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
