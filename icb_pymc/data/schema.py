"""The one schema: names and dimensions of the variables of decisions, of models and of traces."""

CONTEXT_DIMS = ("time", "action", "feature")
BELIEF_DIMS = ("time", "feature")

# What decisions consist of; arrivals are decisions without `chosen`.
DECISION_DIMS: dict[str, tuple[str, ...]] = {
    "context": CONTEXT_DIMS,
    "chosen": ("time",),
    "available": ("time", "action"),
}

# Variables whose names mean the same in every model: E[rho | belief at t], what is acted upon at t, the reward at t,
# the environment's reward parameter, and the choice.
MODEL_DIMS: dict[str, tuple[str, ...]] = {
    "belief": BELIEF_DIMS,
    "rho": BELIEF_DIMS,
    "reward": ("time",),
    "rho_env": ("feature",),
    "chosen": ("time",),
}

# Of these a fit estimates at least one.
POSTERIOR_DIMS = {name: ("chain", "draw", *MODEL_DIMS[name]) for name in ("belief", "rho_env")}

# The groups of a trace that hold its decisions, and what each must have.
DECISION_GROUPS = {"observed_data": ("chosen",), "constant_data": ("context", "available")}

# The choices as data of a declared model: `pm.set_data` of it gives the model other choices of the same candidates.
CHOSEN_SLOT = "chosen_slot"
# The rewards that the log contains, zero elsewhere, and whether it contains them, as data of a declared model.
OBSERVED_REWARD, IS_REWARD_OBSERVED = "observed_reward", "is_reward_observed"
