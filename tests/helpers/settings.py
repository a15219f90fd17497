"""Hyperparameters that tests state where they need a model without learnt scales."""

# NB-ICB with rho and nothing learnt: the covariances and alpha of the text of the paper.
NB_ICB = {"innovation_covariance": 5e-5, "sampling_covariance": 5e-4, "alpha": 20.0, "start_covariance": 5e-5}
# The same for several agents.
HIERARCHICAL = NB_ICB | {"deviation_covariance": 1e-3}
