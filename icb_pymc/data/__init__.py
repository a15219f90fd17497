"""Decisions: one xarray schema, built, validated, read, written and scaled here. No PyMC, no models.

- `schema`: names of the dimensions and variables of decisions and of traces.
- `decisions`: build decisions from arrays and validate them; `deciders`: which agent decided;
  `observed_rewards`: what followed each choice, where the log says so.
- `tables`: long tables to decisions and back; `decision_files`: netCDF, CSV and Parquet.
- `standardisation`: features on one scale, and weights in the user's units.
- `times`: dates, numbers and durations as users write them.
"""
