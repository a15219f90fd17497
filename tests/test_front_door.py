"""What `import icb_pymc` shows: real objects, known to type checkers, documented with examples that run."""

import ast
import doctest
import inspect
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import pytest
from helpers.public_names import MODULES, PUBLIC
from helpers.subjects import here

import icb_pymc

PACKAGE = Path(icb_pymc.__file__).parent
SOURCE = Path(icb_pymc.__file__).read_text(encoding="utf-8")
FUNCTIONS = {name: value for name, value in PUBLIC.items() if inspect.isfunction(value)}


def test_every_name_is_there_and_none_is_a_module_by_accident():
    for name in icb_pymc.__all__:
        assert inspect.ismodule(getattr(icb_pymc, name)) == (name in MODULES[1:]), name
    assert dir(icb_pymc) == sorted(icb_pymc.__all__)


def test_importing_rooms_leaves_the_names_as_they_are():
    code = "import icb_pymc, icb_pymc.plots, icb_pymc.assess.impact, icb_pymc.sample.fitting, inspect\n"
    code += "assert inspect.isfunction(icb_pymc.impact) and inspect.isfunction(icb_pymc.plots.impact)\n"
    code += "assert inspect.isfunction(icb_pymc.fit) and inspect.isfunction(icb_pymc.plots.radar)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_type_checkers_see_what_the_lazy_table_gives():
    block = next(node for node in ast.parse(SOURCE).body if isinstance(node, ast.If))
    seen = {
        alias.asname or alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    lazy = {name: f"icb_pymc.{module}" for name, module in icb_pymc._MODULE_OF.items()}
    assert {name: module for name, module in seen.items() if name in lazy} == lazy
    assert set(seen) - set(lazy) == set(icb_pymc._MODULES)


def test_a_seed_has_the_same_two_names_everywhere():
    for name, function in FUNCTIONS.items():
        taken = {"random_seed", "seed"} & set(inspect.signature(function).parameters)
        assert len(taken) != 1, f"{name} takes only {taken}"


def test_nothing_heavy_is_imported_before_it_is_used():
    heavy = {"pymc", "pandas", "numpy", "xarray", "matplotlib"}
    code = f"import icb_pymc, icb_pymc.cli, sys; print(*{heavy} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == ""


def test_the_version_stands_in_one_place():
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in project
    assert icb_pymc.__version__ not in project.partition("[project.optional-dependencies]")[0]


def sections(docstring):
    lines = docstring.splitlines()
    return {title.strip() for title, rule in pairwise(lines) if rule.strip().startswith("---")}


def raises_something(function):
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(inspect.unwrap(function))))
    return any(isinstance(node, ast.Raise) and node.exc is not None for node in ast.walk(tree))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_documents_parameters_returns_and_what_it_raises(name):
    function = FUNCTIONS[name]
    present = sections(inspect.getdoc(function) or "")
    parameters = inspect.signature(function).parameters
    expected = {"Examples"}
    expected |= {"Parameters"} if parameters else set()
    expected |= {"Returns"} if inspect.signature(function).return_annotation not in (None, "None") else set()
    expected |= {"Raises"} if raises_something(function) else set()
    assert expected - present == set()
    text = inspect.getdoc(function).partition("Returns\n---")[0]
    missing = [parameter for parameter in parameters if parameter not in text]
    assert missing == []


def run_examples(tests, names):
    """Fail with what doctest reports unless all these examples print what they say."""
    mpl.use("Agg")
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in tests:
        test.globs.update(names)
        report: list[str] = []
        runner.run(test, out=report.append)
        assert runner.failures == 0, "".join(report)


def examples_in(subject, name, *, recurse):
    finder = doctest.DocTestFinder(exclude_empty=True, recurse=recurse)
    return [test for test in finder.find(subject, name, globs={}) if test.examples]


@pytest.mark.parametrize("name", PUBLIC)
def test_the_examples_of_a_public_object_and_its_methods_run(name, monkeypatch):
    # Other processes for many subjects have tests of their own.
    monkeypatch.setattr("icb_pymc.sample.each.processes", lambda jobs, in_hand: here)
    subject = PUBLIC[name]
    tests = examples_in(subject, name, recurse=inspect.isclass(subject))
    assert name in [test.name for test in tests], f"{name} has no example"
    run_examples(tests, vars(sys.modules[subject.__module__]))


PUBLIC_PLACES = {f"{subject.__module__}.{subject.__qualname__}" for subject in PUBLIC.values()}
# The sentences of reports have their own test, and `tests/reports` runs it.
OTHER_MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.glob("*/*.py"))
    if ">>>" in path.read_text(encoding="utf-8") and path != PACKAGE / "reports" / "wording.py"
]


@pytest.mark.parametrize("module", OTHER_MODULES)
def test_the_examples_of_what_is_not_public_run(module):
    place = import_module(module)
    tests = examples_in(place, module, recurse=True)
    others = [test for test in tests if not any(f"{test.name}.".startswith(f"{public}.") for public in PUBLIC_PLACES)]
    run_examples(others, vars(place))
