"""What is published agrees with what the project says of itself."""

import re
import tomllib
from pathlib import Path

import icb_pymc

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def test_the_conda_recipe_requires_what_the_project_does():
    recipe = (ROOT / ".ci" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    _, _, rest = recipe.partition("  run:\n")
    listed = re.findall(r"^    - (.*)$", rest.partition("\ntest:")[0], flags=re.M)
    # conda-forge's matplotlib-base is PyPI's matplotlib; the other package adds a window toolkit.
    required = {line.replace(" ", "").replace("matplotlib-base", "matplotlib") for line in listed}
    assert required == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}


def test_the_python_versions_of_the_classifiers_are_allowed_and_start_with_the_lowest():
    versions = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    assert versions[0] == PROJECT["requires-python"].rpartition(".")[2]
    assert [int(version) for version in versions] == list(range(int(versions[0]), int(versions[-1]) + 1))


def test_the_changelog_has_an_entry_for_this_version():
    assert f"\n## {icb_pymc.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_folder_with_code_is_a_package_of_the_wheel():
    outside = {"icb_pymc/models": ROOT / "models"}
    folders = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "icb_pymc").rglob("*.py")}
    folders |= {
        (name + path.parent.as_posix().removeprefix(root.as_posix()))
        for name, root in outside.items()
        for path in root.rglob("*.py")
    }
    packaged = {name.replace(".", "/") for name in SETUPTOOLS["packages"]}
    assert packaged - folders == {"icb_pymc/traces", "icb_pymc/reports/templates"}
    assert folders <= packaged
