"""A declared model in, simulated decisions or a posterior out.

- `simulation`: draw decisions from a model. `fitting`: `fit`, which chooses among the methods:
  `mcmc` (Markov chains), `laplace` (the mode and a Gaussian, with hyperparameters by `most_probable`), `em`
  (Algorithm 1), `point_estimate`.
- `resuming`: chains that a checkpoint keeps, so that a fit can go on.
- `each`: many subjects, each fitted on its own; `in_worker`: a fit in a process of its own, that comes back as bytes.
- What the methods share: `seeds`, `initial_values`, `hyperpriors` and `named_priors` (priors of learnt
  hyperparameters), `kept_draws` (what is recorded) and `recording` (by PyMC),
  `learner_beliefs` (beliefs computed after sampling), `pointwise`
  (likelihood of each choice), `declared` (is it a model?), `outcome` (what each of them returns), `quiet` (PyMC without
  its log).
"""
