"""Decisions: one xarray schema, built, validated, read, written and scaled here. No PyMC, no models.

- `schema`: names of the dimensions and variables of decisions and of traces.
- `decisions`: build decisions from arrays and validate them; `deciders`: which agent decided; `sessions`: sessions, and
  decisions that were missed; `observed_rewards`: what followed each choice, `answers`: which was right, where the log
  says so.
- `tables`: tables to decisions and back, by way of `columns` (their names and forms), `counters` (which are not
  features), `cells` (their values), `candidates` (the form that all are read into), `wide_tables`, `trial_tables` and
  `decision_times`; `decision_files`: files; `contexts`: what could be chosen, without choices.
- `coding`: features from a formula; `formulas`: its grammar and functions; `factors`: their values;
  `lags`: what was chosen before.
- `standardisation`: features on one scale, and weights in the user's units.
- `digests`: a hash of decisions. `understanding`: what was understood of a log. `collinearity`, `separation`: features
  that choices cannot tell apart.
- `times`: dates, numbers and durations as users write them; `clocks`: how much time passes between decisions.
"""
