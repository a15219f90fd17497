"""`icb fit --each`: fit every subject, centre or file on its own."""

import argparse
import sys
from pathlib import Path
from typing import Any

from icb_pymc.cli.options import positive_integer, read_given_decisions, say, say_json
from icb_pymc.errors import InputError

SCALED = (
    "features: numbers are scaled by their spread within decisions, 0/1 features stay as they are "
    "(--scale-binary, --as-is)"
)


def add_each(parser: argparse.ArgumentParser) -> None:
    """Add the options that fit many subjects."""
    group = parser.add_argument_group(
        "many subjects",
        "Every agent of the log, or every file, is fitted on its own. Finished fits are kept: the same command, given "
        "again, continues where it stopped. The other verbs read the folder.",
    )
    group.add_argument("--each", choices=["agent", "file"], help="fit each agent, or each file, on its own")
    group.add_argument("--jobs", type=positive_integer, help="processes on this machine (default: 1)")
    group.add_argument(
        "--scheduler",
        metavar="tcp://HOST:PORT",
        help="fit on this Dask cluster instead of --jobs (needs icb-pymc[cluster])",
    )


def check_each(options: argparse.Namespace) -> None:
    """Refuse options of many subjects without --each, and those that make no sense with it."""
    if options.each is None:
        for name in ("jobs", "scheduler"):
            if getattr(options, name):
                raise InputError(f"--{name} is for many subjects: say --each agent or --each file, too.")
    if options.each != "file" and len(options.decisions) > 1:
        raise InputError("several files: say --each file to fit each of them on its own.")
    if options.each is not None and options.cores:
        raise InputError("--cores is for one fit; with --each say how many processes by --jobs.")
    if options.jobs and options.scheduler:
        raise InputError("give --jobs or --scheduler, not both.")


def fit_subjects(options: argparse.Namespace, hyperparameters: dict[str, Any], fit_options: dict[str, Any]) -> int:
    """Fit, and print what became of the subjects; exit code 1 if some could not be fitted."""
    decisions = _by_agent(options) if options.each == "agent" else _by_file(options)
    # What was not asked for is left to the defaults, so that the same fits from Python have the same settings.
    given = {name: value for name, value in fit_options.items() if value is not None and value != []}
    if not given["keep_latents"]:
        del given["keep_latents"]
    from icb_pymc.assess.population import population
    from icb_pymc.sample.each import fit_each

    folder = "fits" if options.output is None else options.output
    fits = fit_each(
        options.model,
        decisions,
        hyperparameters,
        folder=folder,
        jobs=options.jobs or 1,
        scheduler=options.scheduler,
        progressbar=sys.stderr.isatty(),
        **given,
    )
    for subject, reason in fits.failures.items():
        print(f"icb fit: '{subject}' failed: {reason}", file=sys.stderr)
    try:
        found = population(fits, unit=options.unit, progressbar=sys.stderr.isatty())
    except InputError as error:
        # Some models have no weights over time; the fits are there all the same.
        found, reason = None, f"no summary over subjects: {error}"
    if options.json:
        summary = None if found is None else found.summary
        say_json({"folder": str(folder), "fitted": len(fits), "failures": fits.failures, "population": summary})
    else:
        say(f"{len(fits)} of {len(fits.subjects)} subjects fitted\n\n{found or reason}\n\nwritten to {folder}")
        if found is not None:
            say(f"check them: icb diagnose {folder}\ndraw them: icb plot weights {folder} -o weights.png")
        say(f"one of them is a trace like any other: {fits.path(next(iter(fits)))}")
    return 1 if fits.failures else 0


def _by_agent(options: argparse.Namespace) -> Any:
    """One log, in which all agents share the scale of their features."""
    from icb_pymc.data.deciders import agents_of
    from icb_pymc.data.standardisation import standardise

    (file,) = options.decisions
    decisions = read_given_decisions(file, options)
    agents_of(decisions)
    return standardise(decisions, binary=options.scale_binary) if _is_scaled(options) else decisions


def _by_file(options: argparse.Namespace) -> Any:
    """Logs by the names of their files, with features coded and scaled alike."""
    from icb_pymc.data.standardisation import standardise_together

    names = [Path(file).stem for file in options.decisions]
    if len(set(names)) < len(names):
        names = [str(Path(file)) for file in options.decisions]
    if len(set(names)) < len(names):
        raise InputError("the same file is given twice.")
    is_scaled, logs, first = _is_scaled(options), {}, None
    for name, file in zip(names, options.decisions, strict=True):
        logs[name] = read_given_decisions(file, options, like=first)
        if first is None and Path(file).suffix != ".nc":
            first = logs[name]
    return standardise_together(logs, binary=options.scale_binary) if is_scaled else logs


def _is_scaled(options: argparse.Namespace) -> bool:
    are_tables = {Path(file).suffix != ".nc" for file in options.decisions}
    if len(are_tables) > 1:
        raise InputError("give tables or netCDF files, not both: only the features of tables are standardised.")
    scaled = are_tables == {True} and not options.as_is
    if scaled and not options.json:
        say(SCALED)
    return scaled
