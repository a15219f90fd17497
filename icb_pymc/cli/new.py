"""`icb new`: write a template for a user-defined model."""

import argparse
from pathlib import Path

from icb_pymc.cli.options import add_verb, check_output, say
from icb_pymc.errors import InputError


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "new",
        "Write a model to start from: a learner with an unknown learning rate, in thirty commented lines that run.",
        "icb new my_model.py",
    )
    parser.add_argument(
        "--hierarchical",
        action="store_true",
        help="several subjects, whose parameters come from one population, and a log with rewards",
    )
    parser.add_argument("file", help="Python file to write; the model gets its name")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the template under the name of the file."""
    import keyword

    from icb_pymc.io.files import replacing

    path = Path(options.file)
    check_output(options.file, ".py")
    if not path.stem.isidentifier() or keyword.iskeyword(path.stem):
        raise InputError(f"{path}: a model has the name of its file; use letters, digits and underscores.")
    if path.exists():
        raise InputError(f"{path} already exists and was not overwritten; give another name.")
    name = "hierarchical_template.py" if options.hierarchical else "model_template.py"
    template = (Path(__file__).parents[1] / "catalogue" / name).read_text(encoding="utf-8")
    # Comments for this package's type checks are of no use to the user.
    text = template.replace("  # type: ignore[no-untyped-def]", "").replace("my_model", path.stem)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    rest = " --agents 5 --observed-rewards --steps 100" if options.hierarchical else ""
    say(f"written to {path}; next: icb check {path}{rest}")
    return 0
