"""The examples in the docstrings of the data functions run and print what they say."""

import doctest
from importlib import import_module

import pytest

MODULES = ["errors", "data.decision_files", "data.decisions", "data.standardisation", "data.tables"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    result = doctest.testmod(import_module(f"icb_pymc.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
