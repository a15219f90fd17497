"""The vocabulary that models are written in: PyMC distributions and functions. Nothing is sampled here.

- `model`: decisions as data of a model, hyperparameters, the environment, the choice; `spec`: what else a model says.
- `beliefs`, `learning`, `linearity`, `rewards`: agents that learn; `choice`: utilities and the softmax.
- `processes`, `agent_walks`: beliefs that move by themselves; `priors`, `folds`, `change_points`: constant preferences.
- `pairwise_ranking`: the likelihood of T-REX. `graph`: read a PyMC graph; `scan_over_time`: loops over decisions.
"""
