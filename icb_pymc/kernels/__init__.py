"""Numerical kernels on plain arrays, each tested against a dense formula: no PyMC, no input or output.

- The exact engine: `state_space` (the model of the utility contrasts), `smoother` and `blocked_recursions` (Kalman
  filter and disturbance smoother), `pseudo_data` (a Gaussian approximation of the likelihood), `lapses` (choices
  made at random), `mode` (posterior mode), `thinned_log` (a part of a long log), `posterior_spread` (covariances around
  the mode), `chosen_times` (draws around it at some times only), `hamiltonian` (the dynamics), `transfer` (a position
  under other hyperparameters), `density_surface` (their density between known points), `contrast_loadings` (products
  with each time's matrix), `warm_up` (compiles them before the first draw).
- Algorithms 1 and 2 of the paper: `belief_given_rho` (Lemma 2), `reward_given_rho` (Lemma 1), `rho_env_given_rho`,
  `metropolis` (rho given beliefs), `alternation` (EM's expectation step), `joint_diagonalisation`.
- `shrinkage`: the scales of innovations under a horseshoe prior.
- `learnt_beliefs`: the beliefs of a Bayesian learner as a linear function of its rewards; `belief_spectrum`: their
  covariances at any strength; `prediction_errors`: learners whose rewards are known, with derivatives.
- IRL: `weights_metropolis`, `segment_scores`, `segmentation`, `pairwise_ranking`, `gradient_ascent`.
- Scores: `choice_integral`, `expectation_propagation` (forecasts, with `assumed_density`, `choice_moments` and
  `choice_sites`), `chain_statistics` (R-hat and ESS).
- `compilation_cache`: numba's cache on disk, cleared if any kernel has changed.
"""

from pathlib import Path

from icb_pymc.kernels.compilation_cache import cache_folder, clear_if_stale

clear_if_stale(Path(__file__).parent, cache_folder())
