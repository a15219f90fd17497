"""`icb models`: what there is."""

import argparse

from icb_pymc.cli.options import add_verb, say


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(verbs, "models", "List the models with one line each.", "icb models")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the catalogue, grouped by kind."""
    from icb_pymc.catalogue import entries

    found = list(entries())
    width = max(len(entry.name) for entry in found)
    kind = ""
    for entry in found:
        if entry.kind != kind:
            say(("\n" if kind else "") + entry.kind + "s")
            kind = entry.kind
        say(f"  {entry.name:{width}}  {entry.summary}")
    return 0
