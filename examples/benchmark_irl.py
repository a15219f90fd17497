# %% [markdown]
# # How long the benchmark algorithms take
#
# One core, T = 500, k = 8, two candidates, on the synthetic liver cohort (no real patient). Everything is run once
# before it is timed, so that compilation is not timed.

# %%
import logging
import time
import warnings

from icb_pymc import InputWarning, fit, simulate
from icb_pymc.declare.change_points import score_segments

logging.getLogger("pymc").setLevel(logging.ERROR)
warnings.simplefilter("ignore", InputWarning)
decisions = simulate("sampling", steps=500, seed=0)
short = decisions.isel(time=slice(0, 30))


def seconds(action) -> float:
    """The time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


# %% With the settings of the paper.
PAPER = {
    "B-IRL, 20,000 iterations": ("b_irl", {}),
    "5-fold IRL": ("m_fold_irl", {"folds": 5}),
    "10-fold IRL": ("m_fold_irl", {"folds": 10}),
    "T-fold IRL": ("m_fold_irl", {"folds": 500}),
    "I-SPI, 20,000 iterations": ("i_spi", {}),
    "T-REX, 10,000 steps": ("t_rex", {}),
}
for name, (model, options) in PAPER.items():
    settings = {"preset": "paper", "seed": 0, "cores": 1, "progressbar": False, "hyperparameters": options}
    fit(model, decisions, **settings | {"draws": 5, "tune": 5})
    print(f"{name:45} {seconds(lambda model=model, settings=settings: fit(model, decisions, **settings)):7.2f} s")

# %% CP-IRL: 1,275 segments, with either score; change points for any number of segments are then read from the table.
for score, prior in [("likelihood", "flat"), ("evidence", "gaussian")]:
    options = {"score": score, "prior": prior}
    score_segments(short, **options)
    name = f"CP-IRL, scoring by {score}"
    print(f"{name:45} {seconds(lambda options=options: score_segments(decisions, **options)):7.2f} s")
table = score_segments(decisions)
print(
    f"{'CP-IRL, change points from the table':45} {seconds(lambda: [table.change_points(m) for m in (5, 10)]):7.4f} s"
)

# %% T-REX with free weights.
fit("t_rex", short, progressbar=False)
print(
    f"{'T-REX, Adam until it stops improving':45} {seconds(lambda: fit('t_rex', decisions, progressbar=False)):7.2f} s"
)
