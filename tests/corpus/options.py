"""Bad options: values of hyperparameters that cannot be meant, numbers out of range, and outputs that cannot be."""

import inspect
from pathlib import Path
from typing import Any

from corpus.kinds import Kind
from corpus.tables import GOOD

from icb_pymc.catalogue.lookup import entries, find, hyperparameters_of

# What no number can be: the value, and what the sentence calls it.
VALUES = {"nan": "finite", "inf": "finite", "-inf": "finite", "1e308": "too large", "true": "number", "none": "number"}
VALUES |= {"high": "number", "1,nan": "give"}


def log(folder: Path) -> None:
    (folder / "log.csv").write_text(GOOD)


def is_number(parameter: inspect.Parameter) -> bool:
    return isinstance(parameter.default, (int, float)) and not isinstance(parameter.default, bool)


def command(model: str, kind: str, setting: str) -> list[str]:
    """A model that is an agent is simulated, an inverse one fitted."""
    task = ["simulate", model, "--steps", "5"] if kind == "agent" else ["fit", model, "log.csv"]
    return [*task, "--set", setting]


def settings() -> list[Kind]:
    """Each number that a model takes, given each value that is none."""
    found = []
    for entry in entries():
        if not entry.module.startswith("icb_pymc.models"):
            continue
        numbers = {name: each for name, each in hyperparameters_of(find(entry.name)).items() if is_number(each)}
        for name in numbers:
            for value, words in VALUES.items():
                if value == "none" and "None" in str(numbers[name].annotation):
                    continue
                arguments = command(entry.name, entry.kind, f"{name}={value}")
                found.append(Kind(f"{entry.name} --set {name}={value}", arguments, [name, words], log))
            if name.rpartition("_")[2] in ("alpha", "sigma", "strength", "covariance", "scale", "movement"):
                arguments = command(entry.name, entry.kind, f"{name}=-1")
                found.append(Kind(f"{entry.name} --set {name}=-1", arguments, [name, "negative"], log))
    return found


FIT, SIMULATE = ["fit", "nb_icb", "log.csv"], ["simulate", "sampling"]
OPTIONS: list[tuple[str, list[str], list[str]]] = [
    ("--set of a name that does not exist", [*FIT, "--set", "beta=1"], ["'beta'"]),
    ("--set without a value", [*FIT, "--set", "alpha"], ["NAME=VALUE"]),
    ("--set of nothing", [*FIT, "--set", "alpha="], ["alpha"]),
    ("--set of an empty name", [*FIT, "--set", "=1"], ["''"]),
    ("--set of a list of no numbers", [*FIT, "--set", "alpha=1,,2"], ["alpha"]),
    ("--set of two alphas", [*FIT, "--set", "alpha=1,2"], ["alpha"]),
    ("--set of an object", [*FIT, "--set", "alpha={}"], ["alpha"]),
    ("--set of code", [*FIT, "--set", "alpha=__import__('os')"], ["alpha"]),
    ("--set of a number of 400 digits", [*FIT, "--set", f"alpha={'9' * 400}"], ["alpha", "finite"]),
    ("--set of a number of 200 digits", [*FIT, "--set", f"alpha={'9' * 200}"], ["alpha", "too large"]),
    ("--learn of a name that does not exist", [*FIT, "--learn", "beta"], ["'beta'"]),
    ("a model that does not exist", ["fit", "nobody", "log.csv"], ["'nobody'"]),
    ("a model with a misspelt name", ["fit", "nb_icv", "log.csv"], ["'nb_icb'"]),
    ("a model without a name", ["fit", "", "log.csv"], ["''"]),
    ("a method that does not exist", [*FIT, "--method", "magic"], ["--method"]),
    ("a kernel that does not exist", [*FIT, "--kernel", "magic"], ["--kernel"]),
    ("a preset that does not exist", [*FIT, "--preset", "magic"], ["--preset"]),
    ("EM of a model without it", [*FIT, "--method", "em"], ["EM"]),
    ("Laplace with a kernel", [*FIT, "--method", "laplace", "--kernel", "nuts"], ["kernel"]),
    ("Laplace with chains", [*FIT, "--method", "laplace", "--chains", "2"], ["chains"]),
    ("an output that ends in .txt", [*FIT, "-o", "trace.txt"], [".nc"]),
    ("an output without ending", [*FIT, "-o", "trace"], [".nc"]),
    ("an output in a folder that does not exist", [*FIT, "-o", "no/trace.nc"], ["does not exist"]),
    ("an output in a file", [*FIT, "-o", "log.csv/trace.nc"], ["does not exist"]),
    ("an output with a name too long", [*FIT, "-o", f"{'x' * 300}.nc"], ["too long"]),
    ("an output with a NUL byte", [*FIT, "-o", "a\0.nc"], ["name"]),
    ("an output that is empty", [*FIT, "-o", ""], [".nc"]),
    ("columns of netCDF", ["fit", "nb_icb", "trace.nc", "--agent", "who"], ["tables"]),
    ("columns of netCDF to simulate on", ["simulate", "nb_icb", "--contexts", "trace.nc", "--trials"], ["tables"]),
    ("scales of netCDF", ["fit", "nb_icb", "trace.nc", "--scale-binary"], ["icb convert --standardise"]),
    ("no such option", [*FIT, "--magic"], ["--magic"]),
    ("no such verb", ["magic"], ["magic"]),
    ("no verb", [], ["VERB"]),
    ("no decisions", ["fit", "nb_icb"], ["decisions"]),
    ("a seed that changes the sign", [*FIT, "--seed", "-1"], ["--seed"]),
    ("a seed of 40 digits", [*FIT, "--seed", "9" * 40], ["--seed"]),
    ("a seed of 5,000 digits", [*FIT, "--seed", "9" * 5000], ["--seed"]),
    ("a seed of 40 digits to simulate", [*SIMULATE, "--seed", "9" * 40], ["--seed"]),
    ("steps of 1e9", [*SIMULATE, "--steps", "1e9"], ["--steps"]),
    ("a billion steps", [*SIMULATE, "--steps", "1000000000"], ["steps", "memory"]),
    ("a billion candidates", [*SIMULATE, "--steps", "5", "--actions", "1000000000"], ["candidates"]),
    ("rewards observed twice", [*SIMULATE, "--observed-rewards", "2"], ["observed_rewards"]),
    ("rewards observed NaN", [*SIMULATE, "--observed-rewards", "nan"], ["observed_rewards"]),
    ("a cohort that does not exist", [*SIMULATE, "--cohort", "nowhere.csv"], ["nowhere.csv"]),
    ("a cohort that is another table", [*SIMULATE, "--cohort", "log.csv"], ["log.csv"]),
    ("a trillion draws", [*FIT, "--draws", "1000000000000"], ["memory"]),
    ("a trillion chains", [*FIT, "--chains", "1000000000000"], ["memory"]),
    (
        "a million draws of Laplace in little memory",
        [*FIT, "--method", "laplace", "--draws", "1000000000000"],
        ["memory"],
    ),
]
for option in ("draws", "chains", "sweeps", "iterations", "every", "cores"):
    OPTIONS += [
        (f"{option} {value}", [*FIT, f"--{option}", value], [f"--{option}"])
        for value in ("0", "-1", "1.5", "many", "nan", "1e3", "")
    ]
OPTIONS += [(f"tune {value}", [*FIT, "--tune", value], ["--tune"]) for value in ("-1", "1.5", "nan")]
OPTIONS += [
    (f"{option} {value} to simulate", [*SIMULATE, f"--{option}", value], [f"--{option}"])
    for option in ("steps", "actions")
    for value in ("0", "-1", "1.5", "inf")
]


def trace(folder: Path) -> None:
    (folder / "trace.nc").write_bytes((Path(__file__).parents[1] / "helpers" / "traces" / "pymc_5.nc").read_bytes())


IMPACT = ["impact", "trace.nc", "--event"]
AT = "2001-06-01"
READING: list[tuple[str, list[str], list[str]]] = [
    ("an event without a time", [*IMPACT, "=rule"], ["time ''"]),
    ("an event before the log", [*IMPACT, "1990-01-01=rule"], ["outside"]),
    ("an event after the log", [*IMPACT, "2030-01-01"], ["outside"]),
    ("an event at a number", [*IMPACT, "5=rule"], ["dated"]),
    ("an event on no day", [*IMPACT, "2001-02-30=rule"], ["2001-02-30"]),
    ("an event in words", [*IMPACT, "summer"], ["dated"]),
    ("no event", ["impact", "trace.nc"], ["--event"]),
    ("a window of text", [*IMPACT, AT, "--before", "long"], ["before"]),
    ("a window of zero", [*IMPACT, AT, "--before", "0D"], ["before"]),
    ("a window below zero", [*IMPACT, AT, "--after", "-3D"], ["--after"]),
    ("a window without a unit", [*IMPACT, AT, "--after", "30"], ["after"]),
    ("a window of 1e30 days", [*IMPACT, AT, "--after", "1e30D"], ["after"]),
    ("a window of 10,000 years", [*IMPACT, AT, "--after", "10000y"], ["after"]),
    ("a change that matters in words", [*IMPACT, AT, "--matters", "much"], ["--matters"]),
    ("a change that matters NaN", [*IMPACT, AT, "--matters", "nan"], ["matters"]),
    ("a change that matters below zero", [*IMPACT, AT, "--matters", "-1"], ["matters"]),
    ("a feature that does not exist", [*IMPACT, AT, "--feature", "weight"], ["'weight'"]),
    ("a picture that does not exist", ["plot", "pie", "trace.nc", "-o", "x.png"], ["pie"]),
    ("a picture that ends in .bmp", ["plot", "weights", "trace.nc", "-o", "x.bmp"], [".png"]),
    ("a picture of other features", ["plot", "weights", "trace.nc", "--features", "a,b", "-o", "x.png"], ["'a'"]),
    ("a picture of no feature", ["plot", "weights", "trace.nc", "--features", ",", "-o", "x.png"], ["''"]),
    ("a picture of an agent", ["plot", "importance", "trace.nc", "--agent", "Ada", "-o", "x.png"], ["agent"]),
    ("a picture of agents", ["plot", "agents", "trace.nc", "-o", "x.png"], ["agent"]),
    ("radars of two features", ["plot", "radar", "trace.nc", "-o", "x.png"], ["three features"]),
    ("a report that ends in .pdf", ["report", "trace.nc", "--quick", "-o", "x.pdf"], [".html"]),
    ("a report of a bad event", ["report", "trace.nc", "--quick", "--event", "never=x", "-o", "x.html"], ["never"]),
    ("one trace compared", ["compare", "trace.nc"], ["two"]),
    ("the same trace twice", ["compare", "trace.nc", "trace.nc"], ["twice"]),
    ("shared with no draws", ["share", "trace.nc", "--draws", "0", "-o", "x.nc"], ["--draws"]),
    ("shared onto a folder", ["share", "trace.nc", "-o", "."], [".nc"]),
    ("a registry that does not exist", ["traces", "list", "--folder", "nowhere"], ["nowhere"]),
    ("a registry that is a file", ["traces", "list", "--folder", "trace.nc"], ["trace.nc"]),
    ("a trace that is not registered", ["traces", "show", "nobody", "--folder", "."], ["nobody"]),
    (
        "a name of a trace with a slash",
        ["traces", "add", "trace.nc", "--name", "../x", "--made-by", "x", "--folder", "."],
        ["../x"],
    ),
    ("decisions where a trace is expected", ["diagnose", "log.csv"], ["log.csv"]),
]


def both(folder: Path) -> None:
    log(folder)
    trace(folder)


def unique(kinds: list[Any]) -> list[Any]:
    assert len({kind.name for kind in kinds}) == len(kinds)
    return kinds


KINDS = settings()
KINDS += [Kind(name, arguments, words, log) for name, arguments, words in OPTIONS]
KINDS += [Kind(name, arguments, words, both) for name, arguments, words in READING]
unique(KINDS)
