"""`icb check`: check whether a model and its inference are correct."""

import argparse

from icb_pymc.cli.options import (
    PICTURES,
    add_json,
    add_settings,
    add_verb,
    check_output,
    given_settings,
    non_negative_integer,
    positive_integer,
    say,
    say_json,
    write_picture,
)
from icb_pymc.errors import InputError


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "check",
        "Check a model: its names, dimensions and densities, and by simulation-based calibration whether its inference "
        "recovers what its own simulation drew. Exit code 0: correct, 1: wrong, 2: bad input.",
        "icb check my_model.py -o check.png",
    )
    parser.add_argument(
        "model", nargs="?", help="path of a file with a model, or the name of a model (`icb models` lists them)"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="check every model of the catalogue that claims a posterior, with p-values corrected for their number "
        "(some ten minutes of CPU)",
    )
    parser.add_argument("-o", "--output", help="picture to write: .png, .pdf or .svg; with --all, table to write: .md")
    parser.add_argument(
        "--replicates", type=positive_integer, default=50, help="number of logs to simulate and fit (default: 50)"
    )
    parser.add_argument("--steps", type=positive_integer, default=25, help="decisions in each log (default: 25)")
    parser.add_argument(
        "--agents",
        type=positive_integer,
        default=0,
        help="agents that decide in turn (default: it is not said who does)",
    )
    parser.add_argument("--sessions", type=positive_integer, default=0, help="sessions of each log (default: none)")
    parser.add_argument("--observed-rewards", action="store_true", help="logs contain all rewards")
    parser.add_argument(
        "--draws", type=positive_integer, help="posterior draws for each log (default: 400; 200 with NUTS)"
    )
    parser.add_argument(
        "--seed", type=non_negative_integer, default=0, help="the same seed gives the same result (default: 0)"
    )
    parser.add_argument("--jobs", type=positive_integer, help="processes (default: one per core)")
    add_settings(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the model, print the result, and draw it if asked to."""
    if options.all:
        return _run_all(options)
    if options.model is None:
        raise InputError("say which model to check, or --all.")
    if options.output:
        check_output(options.output, *PICTURES)
    from icb_pymc.assess.calibration import check
    from icb_pymc.catalogue.lookup import find

    result = check(
        options.model,
        replicates=options.replicates,
        steps=options.steps,
        draws=options.draws,
        agents=options.agents,
        sessions=options.sessions,
        observed_rewards=options.observed_rewards,
        seed=options.seed,
        jobs=options.jobs,
        progressbar=True,
        hyperparameters=given_settings(options, find(options.model)),
    )
    if options.json:
        fields = {"model": result.model, "passed": result.passed, "problems": list(result.problems)}
        say_json(fields | {"wrong": result.wrong, "quantities": result.table})
    else:
        say(str(result))
    if options.output and result.table is not None:
        from icb_pymc.plots.calibration import calibration_picture

        write_picture(lambda: calibration_picture(result), options.output)
        if not options.json:
            say(f"\nwritten to {options.output}")
    return 0 if result.passed else 1


def _run_all(options: argparse.Namespace) -> int:
    """Check all models, and print or write the table."""
    if any((options.model, options.set, options.agents, options.sessions, options.observed_rewards)):
        raise InputError(
            "--all checks all models as they are: leave out the model, --set, --agents, --sessions, --observed-rewards."
        )
    if options.output:
        check_output(options.output, ".md")
    from icb_pymc.assess.catalogue_calibration import check_all
    from icb_pymc.io.files import replacing

    result = check_all(
        replicates=options.replicates,
        steps=options.steps,
        draws=options.draws,
        random_seed=options.seed,
        jobs=options.jobs,
        progressbar=True,
    )
    if options.output:
        command = f"icb check --all --replicates {options.replicates} --steps {options.steps} --seed {options.seed}"
        command += f" --draws {options.draws}" if options.draws else ""
        with replacing(options.output) as temporary:
            temporary.write_text(f"# Calibration of all models\n\n`{command}`: {result}\n", encoding="utf-8")
    if options.json:
        fields = {"passed": result.passed, "problems": result.problems, "wrong": result.wrong}
        say_json(result.settings | fields | {"quantities": result.table})
    else:
        say(f"written to {options.output}" if options.output else str(result))
    return 0 if result.passed else 1
