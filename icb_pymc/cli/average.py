"""`icb average`: one belief path from several models."""

import argparse
import json
import sys
from typing import Any

from icb_pymc.cli.options import (
    add_json,
    add_verb,
    check_output,
    named_traces,
    non_negative_integer,
    say,
    say_json,
)
from icb_pymc.errors import InputError


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "average",
        "Average fits of the same decisions: one trace in which each model has as many draws as it deserves by how "
        "well it explains the choices. Its weights are in log-odds.",
        "icb average nb_icb.nc b_icb.nc -o average.nc",
    )
    parser.add_argument("traces", nargs="+", help="netCDF files written by `icb fit` for the same decisions")
    parser.add_argument("-o", "--output", default="average.nc", help="trace to write (default: average.nc)")
    parser.add_argument(
        "--score",
        choices=["evidence", "ahead", "loo"],
        default="evidence",
        help="weigh the models by how probable they make all choices together, or by stacking forecasts of each choice "
        "from those before it, or predictions of choices left out one at a time (default: evidence)",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="FILE",
        help="with --score evidence or ahead: the file of a user-defined model that a trace was fitted with; may be "
        "repeated",
    )
    parser.add_argument(
        "--seed", type=non_negative_integer, default=0, help="seed of the order of the draws (default: 0)"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the traces, average them, write the result, and print the weights."""
    check_output(options.output, ".nc")
    if options.model and options.score == "loo":
        raise InputError("--model cannot be used with --score loo, which needs no model.")
    from icb_pymc.assess.averaging import average
    from icb_pymc.catalogue.lookup import register
    from icb_pymc.results.traces import write_trace

    traces = named_traces(options.traces)
    for path in options.model:
        register(path)
    trace = average(traces, score=options.score, random_seed=options.seed, progressbar=sys.stderr.isatty())
    write_trace(trace, options.output)
    averaged = json.loads(trace.attrs["averaged"])
    left_out, unconverged = trace.attrs.get("left_out"), trace.attrs.get("unconverged")
    if options.json:
        models = [{"name": name} | model for name, model in averaged["models"].items()]
        said = {"score": averaged["score"], "models": models, "left_out": left_out, "unconverged": unconverged}
        say_json(said | {"output": options.output})
        return 0
    say(_as_table(averaged["score"], averaged["models"]))
    remarks = [f"{name}: {model['caution']}" for name, model in averaged["models"].items() if model.get("caution")]
    remarks += [f"left out: {left_out}"] if left_out else []
    remarks += [f"not converged: {unconverged}"] if unconverged else []
    if remarks:
        say("\n" + "\n".join(f"- {remark}" for remark in remarks))
    say(f"\nwritten to {options.output}: {trace.attrs['chains']} chains of {trace.attrs['draws']} draws, in log-odds")
    say(f"plot it: icb plot weights {options.output} -o weights.png")
    return 0


def _as_table(score: str, models: dict[str, dict[str, Any]]) -> str:
    """Weights and scores of the models, best first."""
    import pandas as pd

    title = {
        "evidence": "posterior probabilities, draws per chain, and log evidence",
        "ahead": "stacking weights, draws per chain, and sums of log probabilities of each choice given those before",
        "loo": "stacking weights, draws per chain, and expected log probabilities of choices left out one at a time",
    }
    columns = ["weight", "draws", "elpd", "se", "elpd_diff", "dse"]
    table = pd.DataFrame.from_dict(models, orient="index")[columns].sort_values("elpd", ascending=False, kind="stable")
    text = table.to_string(float_format="{:.1f}".format, formatters={"weight": "{:.3f}".format})
    return f"{title[score]}\n\n{text}"
