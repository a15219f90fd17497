"""What `import icb_pymc` shows: real objects, known to type checkers, documented with examples that run."""

import ast
import doctest
import inspect
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import pytest

import icb_pymc
import icb_pymc.declare
from icb_pymc import metrics, plots
from icb_pymc.models import agents, b_icb, hierarchical_nb_icb, irl, nb_icb, shrinkage_nb_icb

SOURCE = Path(icb_pymc.__file__).read_text(encoding="utf-8")
MODULES = ("__version__", "metrics", "models", "plots")


def own_functions(module):
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    objects = {name: getattr(module, name) for name in names}
    return {
        f"{module.__name__}.{name}": value
        for name, value in objects.items()
        if callable(value) and getattr(value, "__module__", "").startswith("icb_pymc")
    }


PUBLIC = {f"icb_pymc.{name}": getattr(icb_pymc, name) for name in icb_pymc.__all__ if name not in MODULES}
PUBLIC |= own_functions(plots) | own_functions(icb_pymc.declare) | own_functions(irl) | own_functions(agents)
PUBLIC |= {
    f"icb_pymc.models.{model.__name__}": model for model in (nb_icb, b_icb, hierarchical_nb_icb, shrinkage_nb_icb)
}
PUBLIC |= {
    f"icb_pymc.metrics.{name}": value
    for name, value in vars(metrics).items()
    if inspect.isfunction(value) and value.__module__ == metrics.__name__ and not name.startswith("_")
}
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


@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_a_public_object_runs(name):
    mpl.use("Agg")
    subject = PUBLIC[name]
    finder = doctest.DocTestFinder(exclude_empty=True, recurse=False)
    tests = [test for test in finder.find(subject, name, globs={}) if test.examples]
    assert tests, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in tests:
        test.globs.update(vars(sys.modules[subject.__module__]))
        report: list[str] = []
        runner.run(test, out=report.append)
        assert runner.failures == 0, "".join(report)
