"""A reader who sees only the first section of a report draws the right conclusion."""

import json
import re
from pathlib import Path

import pytest

import icb_pymc

EXAMPLE = Path(__file__).parents[2] / "examples" / "four_scenarios.py"
# What the headline must say, and the grades that it may have.
RIGHT = {
    "nothing": (r"No change of any weight is needed|It is not clear whether anything changed", ("not clear",)),
    "rise of c": r"\bc (probably )?counted more",
    "flip of c": r"\bc (probably )?changed sides: a higher value spoke for a candidate before, and against one afterw",
    "sharper": r"all choices (probably )?became sharper",
}


@pytest.fixture(scope="module")
def scenarios():
    """The weights of the example, and its function that simulates them."""
    text = EXAMPLE.read_text(encoding="utf-8")
    names: dict = {"__file__": str(EXAMPLE), "__name__": "four_scenarios"}
    exec(compile(text[: text.index("# %% NB-ICB")], str(EXAMPLE), "exec"), names)
    return names


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", RIGHT)
def test_the_answer_says_what_happened(name, seed, scenarios):
    decisions = scenarios["simulated"](name, scenarios["SCENARIOS"][name], seed)
    options = {"method": "laplace", "draws": 1000, "every": 10, "random_seed": seed, "progressbar": False}
    trace = icb_pymc.fit("nb_icb", decisions, **options)
    event = {scenarios["STEPS"] // 2 + 1: "the guideline"}
    (answer,) = json.loads(icb_pymc.report(trace, event, quick=True).json)["answers"]
    expected = RIGHT[name]
    words, grades = expected if isinstance(expected, tuple) else (expected, ("clear", "probable"))
    assert re.search(words, answer["headline"]), answer["headline"]
    assert answer["grade"] in grades
    others = [other for other in RIGHT if other != name]
    if name in ("nothing", "sharper"):
        patterns = [RIGHT[other] for other in others if isinstance(RIGHT[other], str)]
        assert not any(re.search(pattern, answer["headline"]) for pattern in patterns)
