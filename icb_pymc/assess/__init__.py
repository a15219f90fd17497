"""What can be said from a trace, and whether to believe it; and whether a declared model is right.

Nothing here draws from a posterior of its own, except to check a model against its own simulations.

- Believe it: `convergence`, `diagnosis`, `convergence_verdict`, `predictive_checks`. Registered: `registry_checks`.
- Use it: `impact` (did an event change what counted?), `metrics` (distance from a known truth).
- When did it change? `changes`: number and dates; `divisions`: the sum over all divisions of the log behind it.
- Compare: `comparison` (leave-one-out), `forecasts` (one step ahead).
- Is the model right? `model_requirements`, `calibration`, `sbc_replicates`, `rank_uniformity`.
"""
