"""Simulated decisions and the OPTN liver file, for users without a log of their own.

An environment provides the candidates of each decision; agents (`models/agents`) choose among them.

- `semi_synthetic`: the paper's environment; `sudden_change`, `several_centres`: others; `scenarios`: all called alike.
- `arrivals`: candidates drawn from a cohort; `liver_cohort`: a synthetic cohort in the form of the OPTN file.
- `optn`: the paper's filters on such a file, real or synthetic.
- `allocation_history`, `waiting_list`: a history of allocation under dated policies.
"""
