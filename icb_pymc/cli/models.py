"""`icb models`: what there is."""

import argparse

from icb_pymc.cli.options import add_verb, say


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "models", "List the models with one line each, or tell what one of them is.", "icb models ./my_model.py"
    )
    parser.add_argument("model", nargs="?", help="name of a model, or path of a file with one, to be told in full")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the catalogue, grouped by kind, or describe one model."""
    if options.model is not None:
        say(_description(options.model))
        return 0
    from icb_pymc.catalogue.lookup import entries

    found = list(entries())
    width = max(len(entry.name) for entry in found)
    kind = ""
    for entry in found:
        if entry.kind != kind:
            plural = entry.kind.replace("model", "models") if "model" in entry.kind else f"{entry.kind}s"
            say(("\n" if kind else "") + plural)
            kind = entry.kind
        say(f"  {entry.name:{width}}  {entry.summary}")
    return 0


def _description(model: str) -> str:
    """A model's docstring and the defaults of its hyperparameters."""
    import inspect

    from icb_pymc.catalogue.lookup import find, name_of

    declare = find(model)
    _, *parameters = inspect.signature(declare).parameters.values()
    lines = [name_of(declare), "", inspect.getdoc(declare) or "(no docstring)", "", "hyperparameters"]
    width = max((len(parameter.name) for parameter in parameters), default=0)
    for parameter in parameters:
        needed = parameter.default is inspect.Parameter.empty
        lines.append(f"  {parameter.name:{width}}  {'must be given' if needed else repr(parameter.default)}")
    return "\n".join(lines if parameters else [*lines, "  none"])
