"""`icb simulate`: simulate the decisions of an agent."""

import argparse

from icb_pymc.cli.options import (
    add_json,
    add_settings,
    add_verb,
    check_output,
    given_settings,
    non_negative_integer,
    positive_integer,
    say,
    say_json,
)


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "simulate",
        "Simulate an agent, or any other model, on liver transplants and write its decisions together with the truth.",
        "icb simulate sampling --steps 500 --seed 0 -o decisions.nc",
    )
    parser.add_argument("agent", help="name of a model (`icb models` lists them), or path of a file with a model")
    parser.add_argument("--steps", type=positive_integer, help="number of decisions (default: 500, as in the paper)")
    parser.add_argument("--actions", type=positive_integer, default=2, help="candidates per decision (default: 2)")
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
    parser.add_argument("-o", "--output", default="decisions.nc", help="file to write (default: decisions.nc)")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Simulate, write the decisions, and print a summary."""
    from icb_pymc.catalogue.lookup import find, settings
    from icb_pymc.cli.show import format_summary
    from icb_pymc.data.decision_files import SUFFIXES, write_decisions
    from icb_pymc.data.understanding import summarise
    from icb_pymc.environments.optn import prepare, read_raw
    from icb_pymc.sample.simulation import default_arrivals, simulate

    check_output(options.output, *SUFFIXES)
    declare = find(options.agent)
    given = given_settings(options, declare)
    # Checked before the model is compiled, so that a misspelt name is reported at once.
    settings(declare, given)
    transplants = None
    if options.cohort is not None:
        transplants = prepare(read_raw(options.cohort), options.cohort).transplants
    arrivals = default_arrivals(
        declare,
        steps=options.steps,
        actions=options.actions,
        seed=options.seed,
        transplants=transplants,
        quadratic=options.quadratic,
    )

    decisions = simulate(
        options.agent,
        seed=options.seed,
        arrivals=arrivals,
        hyperparameters=given,
        observed_rewards=options.observed_rewards,
    )
    write_decisions(decisions, options.output)
    summary = summarise(decisions)
    if options.json:
        say_json({"output": options.output} | summary)
    else:
        say(f"{format_summary(summary)}\n\nwritten to {options.output}")
    return 0
