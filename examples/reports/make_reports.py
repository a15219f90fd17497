# %% [markdown]
# The reports in this folder: of the reference history of liver allocation (synthetic patients, dated policies), and of
# a real log, the moves of the American short-term interest rate from 1959 to 2009 (`pip install statsmodels`, whose
# data set `macrodata` it is).

# %%
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm

import icb_pymc

FOLDER = Path(__file__).parent
# A quarter in which the rate moved by less than this, in percentage points, counts as one in which it was held.
HELD = 0.25


def rate_decisions(macro: pd.DataFrame) -> pd.DataFrame:
    """One row for each of three candidates (raise, hold, cut) of each quarter, as a long table.

    The three-month Treasury bill rate stands in for the central bank's decision, which it follows closely. What was
    known is that of the quarter before. A feature speaks for a raise and against a cut by the same amount, and says
    nothing about holding: it is the direction of the candidate times how far inflation (unemployment, growth) was from
    its median.
    """
    quarter = pd.PeriodIndex.from_fields(year=macro["year"].astype(int), quarter=macro["quarter"].astype(int), freq="Q")
    rate = macro["tbilrate"]
    growth = 400 * np.log(macro["realgdp"]).diff()
    inflation = 100 * np.log(macro["cpi"]).diff(4)
    known = pd.DataFrame({"inflation": inflation, "unemployment": macro["unemp"], "growth": growth}).shift(1)
    state = known - known.median()
    state["last_move"] = np.sign(rate.diff().where(rate.diff().abs() >= HELD, 0.0)).shift(1)
    move = np.sign(rate.diff().where(rate.diff().abs() >= HELD, 0.0))
    rows = []
    for i in np.flatnonzero(state.notna().all(axis=1)):
        for candidate, direction in (("raise", 1), ("hold", 0), ("cut", -1)):
            features = {
                f"{name}_high": direction * value for name, value in state.iloc[i].items() if name != "last_move"
            }
            row = {"decision": i, "time": quarter[i].end_time.normalize(), "candidate": candidate}
            row |= {"chosen": int(move.iloc[i] == direction), "moving_at_all": abs(direction)}
            row |= features | {"same_direction_as_before": direction * state["last_move"].iloc[i]}
            rows.append(row)
    return pd.DataFrame(rows)


# %% The reference history, as `icb report` makes it from the shared trace.
HISTORY = {
    "2002-02-27": "MELD introduced",
    "2005-01-01": "use of exceptions begins to grow",
    "2015-10-08": "exception scores capped",
}
history = icb_pymc.report(
    icb_pymc.open_trace("nb-icb-history"),
    HISTORY,
    matters=0.1,
    title="Which patients were offered a liver, and what changed",
    source=FOLDER.parents[1] / "traces" / "nb-icb-history.nc",
)
history.write(FOLDER / "liver-allocation.html")
print(history)

# %% The real log. Volcker took office on 6 August 1979; that event was fixed before the fit, and so were the windows.
decisions = icb_pymc.from_table(rate_decisions(sm.datasets.macrodata.load_pandas().data))
trace = icb_pymc.fit("nb_icb", decisions, random_seed=0, progressbar=False)
rates = icb_pymc.report(
    trace,
    {"1979-08-06": "Volcker takes office"},
    matters=0.1,
    title="Raise, hold or cut: what moved the interest rate",
)
rates.write(FOLDER / "interest-rates.html")
print(rates)
