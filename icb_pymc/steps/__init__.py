"""PyMC step methods: each recognises its part of a model's graph and calls kernels.

Importing this package registers them, so that plain `pm.sample()` assigns them to the variables they can sample. Call
it within the context of the model (``with model: pm.sample()``): the steps examine the whole graph to see whether they
apply.

- `utility_hmc`: the exact engine, with `linear_gaussian`, `belief_sources`, `learner_sources`,
  `summed_sources` (models it can sample), `places` (where a chain is), and `hyperparameter_moves`, with
  `surface_proposals`, `far_proposals`, `centred_scales`, `lapse_rate`.
- `shrinkage_gibbs`: the scales of a shrinkage walk (recognised by `shrinkage_scales`), which the engine takes as given.
- `belief_gibbs`, `reward_gibbs` (with `elliptical_slice`), `rho_metropolis`, `learner_metropolis`,
  `weights_metropolis`: Algorithms 1 and 2.
- `assign`: the steps for a model; `sweep`: several sweeps per draw; `resumable`: steps whose chains are kept; `base`:
  the base class; `univariate_slice`: slice sampling.
- `belief_readers`, `likelihood`: beliefs and likelihoods at the sampler's current point.
"""

from pymc.step_methods import STEP_METHODS

from icb_pymc.steps.belief_gibbs import BeliefGibbs
from icb_pymc.steps.learner_metropolis import LearnerMetropolis
from icb_pymc.steps.reward_gibbs import RewardGibbs
from icb_pymc.steps.rho_metropolis import RhoMetropolis
from icb_pymc.steps.shrinkage_gibbs import ShrinkageGibbs
from icb_pymc.steps.sweep import Sweep
from icb_pymc.steps.utility_hmc import UtilityHMC

__all__ = ["BeliefGibbs", "LearnerMetropolis", "RewardGibbs", "RhoMetropolis", "ShrinkageGibbs", "Sweep", "UtilityHMC"]

# The engine comes first: among steps of equal competence PyMC takes the first.
for _step in (UtilityHMC, ShrinkageGibbs, BeliefGibbs, RewardGibbs, RhoMetropolis, LearnerMetropolis):
    if _step not in STEP_METHODS:
        STEP_METHODS.append(_step)
