"""Bad netCDF: traces and decisions whose contents do not mean what their names say, and text that is hostile."""

import itertools
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from corpus.kinds import Kind

from icb_pymc.io.netcdf import netcdf_bytes
from icb_pymc.results.inference_data import read_tree

SMALL = Path(__file__).parents[1] / "helpers" / "traces" / "pymc_5.nc"
Groups = dict[str, xr.Dataset]
Spoil = Callable[[Groups], None]


@cache
def good() -> tuple[Groups, bytes]:
    """The groups of a good trace, and its file; the small trace repeated, as scores need a hundred draws."""
    tree = read_tree(SMALL)
    groups = {"/": xr.Dataset(attrs=dict(tree.attrs))}
    for name, child in tree.children.items():
        dataset = child.to_dataset().drop_encoding()
        if "draw" in dataset.dims:
            repeated = np.tile(np.arange(dataset.sizes["draw"]), 10)
            dataset = dataset.isel(draw=repeated).assign_coords(draw=np.arange(len(repeated)))
        groups[name] = dataset
    return groups, netcdf_bytes(groups)


def written(spoil: Spoil) -> Callable[[Path], None]:
    """Writes a good trace that is spoiled."""

    def make(folder: Path) -> None:
        groups = {name: dataset.copy(deep=True) for name, dataset in good()[0].items()}
        spoil(groups)
        (folder / "other.nc").write_bytes(good()[1])
        (folder / "trace.nc").write_bytes(netcdf_bytes(groups))

    return make


def attribute(name: str, value: Any, where: str = "/") -> Spoil:
    """Another value of an attribute; None removes it."""

    def spoil(groups: Groups) -> None:
        groups[where].attrs[name] = value

    return spoil


def without_group(name: str) -> Spoil:
    return lambda groups: groups.pop(name) and None


def without(where: str, name: str) -> Spoil:
    def spoil(groups: Groups) -> None:
        groups[where] = groups[where].drop_vars(name)

    return spoil


def values(where: str, name: str, change: Callable[[np.ndarray], Any]) -> Spoil:
    """Other values of a variable, over the same dimensions."""

    def spoil(groups: Groups) -> None:
        old = groups[where][name]
        groups[where] = groups[where].assign({name: (old.dims, np.asarray(change(old.values)))})

    return spoil


def one(value: Any) -> Callable[[np.ndarray], np.ndarray]:
    """One element, the first, is another."""

    def change(old: np.ndarray) -> np.ndarray:
        changed = (
            old.astype(np.result_type(old.dtype, type(value))) if not isinstance(value, str) else old.astype("U40")
        )
        changed[(0,) * old.ndim] = value
        return changed

    return change


def every(value: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda old: np.full(old.shape, value)


def dims(where: str, name: str, **renamed: str) -> Spoil:
    """A variable over dimensions of other names."""

    def spoil(groups: Groups) -> None:
        old = groups[where][name]
        names = [renamed.get(str(dim), str(dim)) for dim in old.dims]
        groups[where] = groups[where].drop_vars(name).assign({name: (names, old.values)})

    return spoil


def cut(where: str, **index: Any) -> Spoil:
    def spoil(groups: Groups) -> None:
        groups[where] = groups[where].isel(index)

    return spoil


WORDS = ("model", "method", "kernel", "approximation", "preset", "sampler", "icb_pymc")
NUMBERS = ("seed", "interrupted", "draws", "chains", "tune", "seconds")
SPOILT: list[tuple[str, Spoil, list[str]]] = []
for name in WORDS:
    SPOILT += [
        (f"{name} is a list of numbers", attribute(name, np.arange(3)), [f"'{name}'", "text"]),
        (f"{name} is a list of words", attribute(name, ["a", "b"]), [f"'{name}'", "text"]),
        (f"{name} is a number", attribute(name, 7), [f"'{name}'", "text"]),
    ]
for name in NUMBERS:
    SPOILT += [
        (f"{name} is text", attribute(name, "many"), [f"'{name}'", "number"]),
        (f"{name} is a list", attribute(name, np.arange(2)), [f"'{name}'", "number"]),
        (f"{name} is NaN", attribute(name, np.nan), [f"'{name}'", "number"]),
    ]
for name in ("hyperparameters", "versions", "averaged"):
    SPOILT += [
        (f"{name} is no JSON", attribute(name, "{'alpha': 1}"), [f"'{name}'", "JSON"]),
        (f"{name} is a JSON list", attribute(name, "[1]"), [f"'{name}'", "JSON"]),
        (f"{name} is a JSON bomb", attribute(name, "[" * 100_000), [f"'{name}'", "JSON"]),
        (f"{name} is a number", attribute(name, 3.5), [f"'{name}'", "JSON"]),
        (f"{name} is a list", attribute(name, np.arange(3)), [f"'{name}'", "JSON"]),
    ]
for name in ("posterior", "observed_data", "constant_data"):
    SPOILT.append((f"no group {name}", without_group(name), [f"'{name}'"]))
for value in (np.nan, np.inf, -np.inf):
    SPOILT += [
        (f"a belief of {value}", values("posterior", "belief", one(value)), ["'belief'"]),
        (f"beliefs of {value}", values("posterior", "belief", every(value)), ["'belief'"]),
        (f"a probability of {value}", values("choice_probabilities", "probability", one(value)), ["'probability'"]),
        (f"a feature of {value}", values("constant_data", "context", one(value)), ["'age'"]),
    ]
for value in (np.nan, np.inf, 7.0):
    SPOILT.append((f"a log-likelihood of {value}", values("log_likelihood", "chosen", one(value)), ["'chosen'"]))
SPOILT += [
    ("a belief of 1e308", values("posterior", "belief", one(1e308)), ["'belief'"]),
    ("beliefs as whole numbers", values("posterior", "belief", lambda old: old.astype(int)), ["'belief'"]),
    ("beliefs as text", values("posterior", "belief", lambda old: old.astype(str)), ["'belief'"]),
    ("no belief and no rho_env", without("posterior", "belief"), ["'belief'"]),
    ("beliefs over other dimensions", dims("posterior", "belief", feature="trait"), ["'belief'"]),
    ("no draws", cut("posterior", draw=slice(0, 0)), ["'belief'"]),
    ("no chains", cut("posterior", chain=slice(0, 0)), ["'belief'"]),
    ("no times", cut("posterior", time=slice(0, 0)), ["'belief'"]),
    ("a probability of 2", values("choice_probabilities", "probability", one(2.0)), ["'probability'"]),
    ("a probability of -1", values("choice_probabilities", "probability", one(-1.0)), ["'probability'"]),
    ("probabilities of zero", values("choice_probabilities", "probability", every(0.0)), ["'probability'"]),
    (
        "probabilities that do not sum to one",
        values("choice_probabilities", "probability", every(0.4)),
        ["'probability'"],
    ),
    ("probabilities as text", values("choice_probabilities", "probability", every("half")), ["'probability'"]),
    ("probabilities of other candidates", cut("choice_probabilities", action=slice(0, 2)), ["'probability'"]),
    ("probabilities of other times", cut("choice_probabilities", time=slice(0, 5)), ["'probability'"]),
    ("no probability", without("choice_probabilities", "probability"), ["'probability'"]),
    ("log-likelihood of other times", cut("log_likelihood", time=slice(0, 5)), ["'chosen'"]),
    ("log-likelihood of other draws", cut("log_likelihood", draw=slice(0, 5)), ["'chosen'"]),
    ("log-likelihood as text", values("log_likelihood", "chosen", every("low")), ["'chosen'"]),
    ("no log-likelihood in its group", without("log_likelihood", "chosen"), ["'chosen'"]),
    ("a feature of 1e308", values("constant_data", "context", one(1e308)), ["'age'", "too large"]),
    ("features as text", values("constant_data", "context", every("old")), ["'context'"]),
    ("no context", without("constant_data", "context"), ["'context'"]),
    ("no available", without("constant_data", "available"), ["'available'"]),
    ("no chosen", without("observed_data", "chosen"), ["'chosen'"]),
    ("availability as numbers", values("constant_data", "available", lambda old: old.astype(int)), ["'available'"]),
    ("availability as text", values("constant_data", "available", every("yes")), ["'available'"]),
    ("nobody available", values("constant_data", "available", every(False)), ["unavailable"]),
    ("a choice outside", values("observed_data", "chosen", one(7)), ["slot 7"]),
    ("a choice below zero", values("observed_data", "chosen", one(-1)), ["slot -1"]),
    ("a choice that was not available", values("observed_data", "chosen", one(2)), ["unavailable"]),
    ("choices as real numbers", values("observed_data", "chosen", lambda old: old + 0.5), ["'chosen'"]),
    ("choices as text", values("observed_data", "chosen", every("a")), ["'chosen'"]),
    ("choices over other dimensions", dims("observed_data", "chosen", time="step"), ["'chosen'"]),
    ("choices of fewer times", cut("observed_data", time=slice(0, 5)), ["time"]),
    ("posterior of other times", values("posterior", "time", lambda old: old + np.timedelta64(1, "D")), ["'time'"]),
    ("posterior of other features", values("posterior", "feature", lambda old: ["x", "y"]), ["'feature'"]),
    ("posterior of fewer features", cut("posterior", feature=slice(0, 1)), ["'feature'"]),
    ("schema of the future", attribute("schema_version", 99), ["schema_version", "pip install"]),
    ("schema of text", attribute("schema_version", "one"), ["schema_version"]),
    ("schema of a list", attribute("schema_version", np.arange(3)), ["schema_version"]),
    ("schema below one", attribute("schema_version", 0), ["schema_version"]),
    ("synthetic is a list", attribute("synthetic", np.arange(3), "constant_data"), ["'synthetic'"]),
    ("agent is a list", attribute("agent", ["a", "b"], "constant_data"), ["'agent'"]),
    ("coding is no JSON", attribute("coding", "{", "constant_data"), ["coding"]),
    ("coding is a list", attribute("coding", np.arange(3), "constant_data"), ["coding"]),
]
VERBS = {
    "diagnose": ["diagnose", "trace.nc"],
    "diagnose --json": ["diagnose", "trace.nc", "--json"],
    "compare": ["compare", "trace.nc", "other.nc"],
    "impact": ["impact", "trace.nc", "--event", "2001-06-01=rule"],
    "changes": ["changes", "trace.nc"],
    "plot weights": ["plot", "weights", "trace.nc", "-o", "picture.png"],
    "plot importance": ["plot", "importance", "trace.nc", "-o", "picture.png"],
    "plot choices": ["plot", "choices", "trace.nc", "-o", "picture.png"],
    "table": ["table", "trace.nc", "-o", "table.csv"],
    "report": ["report", "trace.nc", "--quick", "-o", "report.html"],
    "share": ["share", "trace.nc", "-o", "shared.nc"],
}


# Read where weights in log-odds are computed from it.
ALPHA = [
    (f"alpha is {value}", attribute("hyperparameters", f'{{"alpha": {value}}}'), ["alpha"])
    for value in ("-1", "NaN", "Infinity")
]

# Each kind meets one verb in turn: all read traces by the same reader.
KINDS = [
    Kind(f"{name}, for {verb}", command, words, written(spoil))
    for (name, spoil, words), (verb, command) in zip(SPOILT, itertools.cycle(VERBS.items()), strict=False)
]
KINDS += [
    Kind(f"{name}, for {verb}", VERBS[verb], words, written(spoil))
    for name, spoil, words in ALPHA
    for verb in ("plot weights", "impact")
]
