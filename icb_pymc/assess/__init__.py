"""What a trace shows, and whether to believe it; and whether a declared model is right.

Nothing here samples a posterior, except to check a model against its own simulations.

- Whether to believe a trace: `convergence`, `diagnosis`, `convergence_verdict`, `predictive_checks`, `unchanging` (is
  it better than no change?), `extrapolation` (had the agent learnt rho_env?), `laplace_bias`, `registry_checks`.
- What it shows: `weights` (signed, in log-odds) and `weight_table`, `impact` (did an event change what counted?) with
  its `event_windows`, `accounts` (a step, drift or no change, by evidence of their `account_models`), `decisiveness`
  (did all choices become sharper?) and `wording`, `judged_changes` (what its verdicts rest on), `prior_sensitivity`,
  `smoothing` (how a curve spreads a sudden change), `example_choices`, `choice_shares` (performance, bias, psychometric
  curve), `power` (which change could this log have shown?), `metrics` (distance from a known truth).
- When did it change? `changes`: number and dates, told by `dates_of_change`; `divisions`: the sum over all
  divisions of the log behind it.
- Compare: `comparison` (leave-one-out), `forecasts` (one step ahead, averaged over `hyperparameter_draws`), `k_fold`
  (leave out many); `trace_models`: what to fit again. Average: `averaging`, with weights by evidence or `stacking`.
- Many subjects: `by_subject` asks each the same question; `population` and `subject_paths` summarise their answers.
- Is the model right? `model_requirements`, `calibration`, `sbc_replicates`, `rank_uniformity`; all models of the
  catalogue: `catalogue_calibration`.
"""
