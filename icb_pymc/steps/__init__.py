"""PyMC step methods: each recognises its part of a model's graph and calls kernels.

Importing this package makes plain `pm.sample()` pick them for the variables they know. Call it within the context of
the model (``with model: pm.sample()``): the steps look at the whole graph to see whether they apply.

- `utility_hmc`: the exact engine, with `linear_gaussian`, `belief_sources`, `summed_sources` (which models it knows)
  and `elliptical_slice`.
- `belief_gibbs`, `reward_gibbs`, `rho_metropolis`, `learner_metropolis`, `weights_metropolis`: Algorithms 1 and 2.
- `assign`: the steps for a model; `sweep`: several rounds per draw; `base`: what all steps share.
- `belief_readers`, `likelihood`: beliefs and likelihoods at the sampler's current point.
"""

import pymc as pm

from icb_pymc.steps.belief_gibbs import BeliefGibbs
from icb_pymc.steps.learner_metropolis import LearnerMetropolis
from icb_pymc.steps.reward_gibbs import RewardGibbs
from icb_pymc.steps.rho_metropolis import RhoMetropolis
from icb_pymc.steps.sweep import Sweep
from icb_pymc.steps.utility_hmc import UtilityHMC

__all__ = ["BeliefGibbs", "LearnerMetropolis", "RewardGibbs", "RhoMetropolis", "Sweep", "UtilityHMC"]

# The engine comes first: where several know a variable equally well, PyMC takes the first.
for _step in (UtilityHMC, BeliefGibbs, RewardGibbs, RhoMetropolis, LearnerMetropolis):
    if _step not in pm.STEP_METHODS:
        pm.STEP_METHODS.append(_step)
