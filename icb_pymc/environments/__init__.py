"""Where decisions come from when they are not a user's log: synthetic arrivals, or the OPTN liver file.

An environment says who could be chosen, not who is: agents (`models/agents`) choose.

- `semi_synthetic`: the paper's environment; `sudden_change`, `several_centres`: its other scenarios.
- `arrivals`: candidates drawn from a cohort; `liver_cohort`: a synthetic cohort in the form of the OPTN file.
- `optn`: the paper's filters on such a file, real or not.
- `allocation_history`, `waiting_list`: a whole history of allocation under dated policies.
"""
