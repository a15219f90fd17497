"""`icb traces`: shared traces, how they were made, and whether they are unchanged."""

import argparse
from dataclasses import asdict
from typing import Any

from icb_pymc.cli.options import add_json, add_verb, say, say_json


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb and its sub-commands."""
    parser = add_verb(
        verbs,
        "traces",
        "List, show, verify, add or open shared traces.",
        "icb traces list",
    )
    commands = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    listing = add_verb(commands, "list", "List the shared traces.", "icb traces list")
    showing = add_verb(
        commands,
        "show",
        "Show the model, data and checks of a trace, and the commands that reproduce it.",
        "icb traces show nb-icb-sampling",
    )
    verifying = add_verb(
        commands,
        "verify",
        "Verify the sizes, checksums, contents and checks of traces; exit code 1 if anything is wrong.",
        "icb traces verify",
    )
    adding = add_verb(
        commands,
        "add",
        "Add a trace to the registry, with the commands that reproduce it.",
        'icb traces add shared.nc --name my-trace --made-by "icb fit nb_icb log.csv --seed 0 -o trace.nc" '
        '--made-by "icb share trace.nc --draws 400 -o shared.nc"',
    )
    opening = add_verb(
        commands,
        "open",
        "Print the contents of a trace and how to open it from Python.",
        "icb traces open nb-icb-sampling",
    )
    for each in (listing, showing, verifying, adding, opening):
        each.add_argument(
            "--folder", help="folder of the registry (default: traces in this folder, else those of the package)"
        )
    for each in (listing, showing, verifying):
        add_json(each)
    for each in (showing, opening):
        each.add_argument("name", help="as `icb traces list` shows it")
    verifying.add_argument("name", nargs="?", help="verify only this trace (default: all)")
    adding.add_argument("trace", help="netCDF file written by `icb fit` or `icb share`")
    adding.add_argument("--name", required=True, help="name of the trace in the registry")
    adding.add_argument(
        "--made-by",
        action="append",
        required=True,
        metavar="COMMAND",
        help="a command that made it, in order; may be repeated",
    )
    adding.add_argument("--replace", action="store_true", help="replace the trace that has this name")
    runs = ((listing, _list), (showing, _show), (verifying, _verify), (adding, _add), (opening, _open))
    for each, run in runs:
        each.set_defaults(run=run)


def _list(options: argparse.Namespace) -> int:
    from icb_pymc.results.registry import read_registry, registry_folder

    folder = registry_folder(options.folder)
    entries = read_registry(folder)
    if options.json:
        say_json([asdict(entry) for entry in entries.values()])
        return 0
    if not entries:
        say(f"there are no traces in {folder}; to add one, see icb traces add --help")
    for entry in entries.values():
        say(f"{entry.name:<18} {entry.bytes / 1e6:6.2f} MB  {entry.model} on {entry.data}")
        say(f"{'':<18} {'':>9}  {_format_checks(entry.checks)}")
    return 0


def _show(options: argparse.Namespace) -> int:
    from icb_pymc.results.registry import find_entry, path_of, registry_folder

    folder = registry_folder(options.folder)
    entry = find_entry(options.name, folder)
    if options.json:
        say_json(asdict(entry) | {"path": str(path_of(entry, folder))})
        return 0
    description = {
        "file": f"{path_of(entry, folder)} ({entry.bytes} bytes)",
        "sha256": entry.sha256,
        "model": entry.model,
        "data": entry.data,
        "contents": entry.shared,
        "checks": _format_checks(entry.checks),
        "versions": ", ".join(f"{name} {version}" for name, version in entry.versions.items()),
    }
    say(entry.name)
    for name, value in description.items():
        say(f"  {name:<9} {value}")
    say("\nto reproduce it:")
    for command in entry.made_by:
        say(f"  {command}")
    return 0


def _verify(options: argparse.Namespace) -> int:
    from icb_pymc.assess.registry_checks import verify
    from icb_pymc.results.registry import find_entry, read_registry, registry_folder

    folder = registry_folder(options.folder)
    entries = [find_entry(options.name, folder)] if options.name else list(read_registry(folder).values())
    problems = {entry.name: verify(entry, folder) for entry in entries}
    unchanged = sum(not of_trace for of_trace in problems.values())
    if options.json:
        say_json({"unchanged": unchanged, "traces": [{"name": name, "problems": p} for name, p in problems.items()]})
    else:
        for entry in entries:
            say(f"{entry.name}: {'; '.join(problems[entry.name]) or 'unchanged, ' + _format_checks(entry.checks)}")
        say(f"\n{unchanged} of {len(entries)} traces are as registered")
    return 0 if unchanged == len(entries) else 1


def _add(options: argparse.Namespace) -> int:
    from pathlib import Path

    from icb_pymc.assess.registry_checks import add
    from icb_pymc.results.registry import registry_folder

    # A folder given by name does not need a registry yet.
    folder = registry_folder(options.folder or ("traces" if Path("traces").is_dir() else None), to_change=True)
    entry = add(options.trace, options.name, options.made_by, folder, replace=options.replace)
    say(f"{entry.name} added to {folder}: {_format_checks(entry.checks)}")
    return 0


def _open(options: argparse.Namespace) -> int:
    import xarray as xr

    from icb_pymc.results.inference_data import group, group_names
    from icb_pymc.results.registry import find_entry, open_trace, path_of, registry_folder

    folder = registry_folder(options.folder)
    path = path_of(find_entry(options.name, folder), folder)
    trace = open_trace(options.name, folder)
    tree = xr.DataTree.from_dict({name: group(trace, name) for name in group_names(trace)})
    tree.attrs = dict(trace.attrs)
    say(str(tree))
    given = "" if options.folder is None else f", folder={options.folder!r}"
    say("\nfrom Python:")
    say(f"  import icb_pymc; trace = icb_pymc.open_trace({options.name!r}{given})")
    say(f"or without this package:\n  import xarray; posterior = xarray.open_dataset({str(path)!r}, group='posterior')")
    return 0


def _format_checks(checks: dict[str, Any]) -> str:
    text = f"{checks.get('chains')} chains of {checks.get('draws')} draws, worst R-hat {checks.get('worst_rhat')}, "
    text += f"worst ESS {checks.get('worst_bulk_ess')} (bulk) and {checks.get('worst_tail_ess')} (tail)"
    return f"{text}: {'passed' if checks.get('passed') else 'NOT passed'}"
