"""`icb simulate`: simulate the decisions of an agent."""

import argparse
from pathlib import Path
from typing import Any

from icb_pymc.cli.options import (
    add_json,
    add_scaling,
    add_settings,
    add_table_columns,
    add_verb,
    check_output,
    given_columns,
    given_settings,
    non_negative_integer,
    positive_integer,
    read_given_decisions,
    refuse_scaling,
    say,
    say_json,
)
from icb_pymc.errors import InputError


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "simulate",
        "Simulate an agent, or any other model, on liver transplants or on contexts of your own (--contexts), and "
        "write its decisions together with the truth.",
        "icb simulate sampling --steps 500 --seed 0 -o decisions.nc",
    )
    parser.add_argument("model", help="name of a model (`icb models` lists them), or path of a file with a model")
    parser.add_argument("--steps", type=positive_integer, help="number of decisions (default: 500, as in the paper)")
    parser.add_argument("--actions", type=positive_integer, help="candidates per decision (default: 2)")
    parser.add_argument(
        "--contexts",
        metavar="FILE",
        help="simulate on these decisions, a table or netCDF file: what could be chosen, agents and sessions stay as "
        "they are, and choices are not needed; to see what could be learnt from such a log",
    )
    parser.add_argument(
        "--seed", type=non_negative_integer, default=0, help="the same seed gives the same decisions (default: 0)"
    )
    parser.add_argument(
        "--quadratic", action="store_true", help="rewards that are quadratic in age, INR and weight difference"
    )
    parser.add_argument(
        "--observed-rewards",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of the rewards that the log contains (default: 0, none; 1: all)",
    )
    parser.add_argument("--cohort", metavar="CSV", help="raw OPTN liver file (default: the synthetic cohort)")
    add_settings(parser)
    parser.add_argument("--as-is", action="store_true", help="do not standardise the features of --contexts")
    add_scaling(parser)
    add_table_columns(parser)
    parser.add_argument("-o", "--output", default="decisions.nc", help="file to write (default: decisions.nc)")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Simulate, write the decisions, and print a summary."""
    from icb_pymc.catalogue.lookup import find, settings
    from icb_pymc.cli.show import format_summary
    from icb_pymc.data.decision_files import SUFFIXES, write_decisions
    from icb_pymc.data.understanding import summarise
    from icb_pymc.sample.simulation import simulate

    check_output(options.output, *SUFFIXES)
    declare = find(options.model)
    given = given_settings(options, declare)
    # Checked before the model is compiled, so that a misspelt name is reported at once.
    settings(declare, given)
    environment = _transplants(options, declare) if options.contexts is None else _contexts(options)
    decisions = simulate(
        options.model,
        seed=options.seed,
        hyperparameters=given,
        observed_rewards=options.observed_rewards,
        **environment,
    )
    write_decisions(decisions, options.output)
    summary = summarise(decisions)
    if options.json:
        say_json({"output": options.output} | summary)
    else:
        say(f"{format_summary(summary)}\n\nwritten to {options.output}")
    return 0


def _transplants(options: argparse.Namespace, declare: Any) -> dict[str, Any]:
    """Arrivals of the liver cohort."""
    from icb_pymc.data.columns import Columns
    from icb_pymc.environments.optn import prepare, read_raw
    from icb_pymc.sample.simulation import default_arrivals

    if given_columns(options) != Columns() or options.as_is or options.scale_binary:
        raise InputError("options of a table are for --contexts: name the table with it, or leave them out.")
    transplants = None
    if options.cohort is not None:
        transplants = prepare(read_raw(options.cohort), options.cohort).transplants
    arrivals = default_arrivals(
        declare,
        steps=options.steps,
        actions=options.actions or 2,
        seed=options.seed,
        transplants=transplants,
        quadratic=options.quadratic,
    )
    return {"arrivals": arrivals}


def _contexts(options: argparse.Namespace) -> dict[str, Any]:
    """The user's own contexts, scaled as `icb fit` does."""
    from icb_pymc.data.contexts import read_contexts
    from icb_pymc.data.standardisation import standardise

    for name in ("steps", "actions", "cohort", "quadratic"):
        if getattr(options, name):
            raise InputError(f"--{name} is for simulated transplants; leave it out with --contexts.")
    refuse_scaling(options.contexts, options)
    if Path(options.contexts).suffix == ".nc":
        return {"decisions": read_given_decisions(options.contexts, options)}
    contexts = read_contexts(options.contexts, given_columns(options))
    return {"decisions": contexts if options.as_is else standardise(contexts, binary=options.scale_binary)}
