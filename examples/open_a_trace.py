# %% [markdown]
# # A trace opened with plain xarray
#
# A trace is a netCDF file that can be read with only xarray (and h5netcdf). This script opens a trace from `traces/`
# and draws importance over time without any part of icb_pymc. The decisions are those of a simulated agent whose
# priorities change half-way, on synthetic liver patients, none of them real.
#
# Run it from the top of the repository: `python examples/open_a_trace.py`.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import xarray as xr

path = Path("traces") / "nb-icb-stepping.nc"
trace = xr.open_datatree(path, engine="h5netcdf")

# %% [markdown]
# The file records how it was made and what was kept. It also contains the decisions: what could have been chosen
# (`context`), what was chosen, and, since they were simulated, the truth.

# %%
for name in ("model", "sampler", "chains", "draws", "shared", "versions"):
    print(f"{name:>8}: {trace.attrs[name]}")
print(trace["posterior"].to_dataset())
print(trace["constant_data"].to_dataset())


# %% [markdown]
# The relative importance of a feature is its share in the size of the weights: $|\beta_t(i)| / \sum_j |\beta_t(j)|$.


# %%
def relative_importance(weights: xr.DataArray) -> xr.DataArray:
    """The share of each feature in the total size of the weights."""
    size = abs(weights)
    return size / size.sum("feature")


importance = relative_importance(trace["posterior"]["belief"])
low, middle, high = importance.quantile([0.05, 0.5, 0.95], ["chain", "draw"])
truth = relative_importance(trace["constant_data"]["true_belief"])

# %%
figure, axes = plt.subplots(2, 4, figsize=(10.4, 5.0), sharex=True, sharey=True, layout="constrained")
for ax, feature in zip(axes.flat, importance["feature"].values, strict=True):
    time = importance["time"].values
    ax.fill_between(time, low.sel(feature=feature), high.sel(feature=feature), color="#0072B2", alpha=0.2, linewidth=0)
    ax.plot(time, middle.sel(feature=feature), color="#0072B2")
    ax.plot(truth["time"], truth.sel(feature=feature), color="black", linestyle=":", linewidth=1.4)
    ax.set_title(feature.replace("_", " "), fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
axes[0, 0].set_ylim(bottom=0)
axes[0, 0].yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
figure.supylabel("relative importance", fontsize=10)
figure.supxlabel("decision\nmedian and 90% credible band; dotted: truth; synthetic patients", fontsize=8)
figure.savefig("importance_by_xarray.png", dpi=150)
print("written to importance_by_xarray.png")
