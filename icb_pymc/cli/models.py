"""`icb models`: list the models, or describe one."""

import argparse
from typing import Any

from icb_pymc.cli.options import add_json, add_verb, say, say_json


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "models", "List all models in one line each, or describe one of them.", "icb models ./my_model.py"
    )
    parser.add_argument("model", nargs="?", help="name of the model to describe, or path of a file with one")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the catalogue, grouped by kind, or describe one model."""
    if options.model is not None:
        _print_description(options.model, options.json)
        return 0
    from icb_pymc.catalogue.lookup import entries

    models = list(entries())
    if options.json:
        say_json([model._asdict() for model in models])
        return 0
    width = max(len(model.name) for model in models)
    kind = ""
    for model in models:
        if model.kind != kind:
            plural = model.kind.replace("model", "models") if "model" in model.kind else f"{model.kind}s"
            say(("\n" if kind else "") + plural)
            kind = model.kind
        say(f"  {model.name:{width}}  {model.summary}")
    return 0


def _print_description(model: str, as_json: bool) -> None:
    """Print a model's docstring and the defaults of its hyperparameters."""
    import inspect

    from icb_pymc.catalogue.lookup import find, hyperparameters_of, name_of

    declare = find(model)
    docstring = inspect.getdoc(declare) or ""
    defaults = {name: parameter.default for name, parameter in hyperparameters_of(declare).items()}
    if as_json:
        hyperparameters: list[dict[str, Any]] = [
            {"name": name, "required": True}
            if default is inspect.Parameter.empty
            else {"name": name, "required": False, "default": default}
            for name, default in defaults.items()
        ]
        say_json({"name": name_of(declare), "docstring": docstring, "hyperparameters": hyperparameters})
        return
    lines = [name_of(declare), "", docstring or "(no docstring)", "", "hyperparameters"]
    width = max(map(len, defaults), default=0)
    for name, default in defaults.items():
        lines.append(f"  {name:{width}}  {'required' if default is inspect.Parameter.empty else repr(default)}")
    say("\n".join(lines if defaults else [*lines, "  none"]))
