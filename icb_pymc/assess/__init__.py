"""What a trace shows, and whether to believe it; and whether a declared model is right.

Nothing here samples a posterior, except to check a model against its own simulations.

- Whether to believe a trace: `convergence`, `diagnosis`, `convergence_verdict`, `predictive_checks`, `unchanging` (is
  it better than no change?), `extrapolation` (had the agent learnt rho_env?); of a registered one: `registry_checks`.
- What it shows: `weights` (signed, in log-odds) and `weight_table`, `impact` (did an event change what counted?) with
  its `event_windows`, `accounts` (a step, drift or no change, by evidence of their `account_models`), `decisiveness`
  (did all choices become sharper?) and `wording`, `judged_changes` (what its verdicts rest on), `prior_sensitivity`,
  `smoothing` (how a curve spreads a sudden change), `example_choices`, `power` (which change could this log have
  shown?), `metrics` (distance from a known truth).
- When did it change? `changes`: number and dates; `divisions`: the sum over all divisions of the log behind it.
- Compare: `comparison` (leave-one-out), `forecasts` (one step ahead, averaged over `hyperparameter_draws`). Average:
  `averaging` (one belief path from several models), with weights by evidence or by `stacking`.
- Is the model right? `model_requirements`, `calibration`, `sbc_replicates`, `rank_uniformity`.
"""
