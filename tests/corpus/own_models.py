"""Bad models of one's own: files that are no model, and functions that return none, for each verb."""

from pathlib import Path

from corpus.kinds import Kind, Make
from corpus.options import log

START = "import numpy as np\nimport pymc as pm\nimport pytensor.tensor as pt\n"
HEAD = START + "from icb_pymc import declare as d\n\n\ndef own(decisions, *, alpha=1.0):\n    "
MODEL = "with d.decisions_model(decisions) as model:\n        "


def body(*lines: str) -> str:
    return HEAD + "\n    ".join(lines) + "\n"


def inside(*lines: str) -> str:
    """A function whose model contains these lines."""
    return HEAD + MODEL + "\n        ".join(lines) + "\n    return model\n"


BELIEF = "pm.Deterministic('belief', pt.zeros((len(decisions.time), len(decisions.feature))), dims=('time', 'feature'))"
CHOSEN = "pm.Categorical('chosen', p=[0.5, 0.5], observed=decisions['chosen'].values, dims='time')"
# Files that hold no model: refused whatever the verb.
FILES: list[tuple[str, str | bytes, list[str]]] = [
    ("empty", "", ["no model"]),
    ("no function", "x = 1\n", ["no model"]),
    ("a function without parameters", "def own():\n    return 1\n", ["no parameters"]),
    ("several functions", "def a(decisions): ...\ndef b(decisions): ...\n", ["several"]),
    ("a syntax error", "def own(decisions)\n    pass\n", ["line 1"]),
    ("an indentation error", "def own(decisions):\npass\n", ["line 2"]),
    ("an import that fails", "import nothing_like_this\n", ["line 1", "nothing_like_this"]),
    ("an error when it is run", "x = 1 / 0\n", ["line 1", "division"]),
    ("an exit when it is run", "raise SystemExit(3)\n", ["line 1", "SystemExit"]),
    ("a NUL byte", b"def own(decisions): ...\n\0", ["null"]),
    ("binary", bytes(range(256)), ["own.py"]),
    ("a class", "class own:\n    def __init__(self, decisions): ...\n", ["no model"]),
]
# What functions return: the words are those of the modeller.
RETURNED: list[tuple[str, str, list[str]]] = [
    ("returns nothing", body("pass"), ["NoneType", "return model"]),
    ("returns a number", body("return 3"), ["int", "pm.Model"]),
    ("returns text", body("return 'nb_icb'"), ["str", "pm.Model"]),
    ("returns the class of models", body("return pm.Model"), ["pm.Model"]),
    ("returns the decisions", body("return decisions"), ["Dataset", "pm.Model"]),
    (
        "returns a pair",
        body("with pm.Model() as model:", "    pm.Normal('x')", "return model, 1"),
        ["tuple", "pm.Model"],
    ),
    ("forgets to return", body("with pm.Model() as model:", "    pm.Normal('x')"), ["NoneType", "return model"]),
    ("returns a coroutine", START + "async def own(decisions):\n    return 1\n", ["coroutine", "pm.Model"]),
    ("returns a generator", START + "def own(decisions):\n    yield 1\n", ["generator", "pm.Model"]),
    ("has no variables", body("return pm.Model()"), ["`chosen`"]),
    ("raises", body("raise ValueError('no luck')"), ["line 8", "no luck"]),
    ("raises what has no words", body("raise ValueError"), ["line 8", "ValueError"]),
    ("asserts", body("assert alpha > 5"), ["line 8", "AssertionError"]),
    ("exits", body("raise SystemExit(3)"), ["line 8", "SystemExit"]),
    ("recurses for ever", body("return own(decisions)"), ["line 8", "RecursionError"]),
    ("reads what is not there", body("return decisions['price']"), ["line 8", "price"]),
    ("names a variable twice", inside("pm.Normal('x')", "pm.Normal('x')"), ["line 10", "x"]),
    ("mixes shapes", inside("pm.Normal('x', mu=np.zeros(3), sigma=np.ones(2))"), ["line 9"]),
]
FITTED: list[tuple[str, str, list[str]]] = [
    (
        "has a belief without dims",
        inside(BELIEF.replace("dims=('time', 'feature')", "dims=None"), CHOSEN),
        ["`belief`"],
    ),
    (
        "has a belief of other dims",
        inside(
            BELIEF.replace("('time', 'feature')", "('feature', 'time')").replace(
                "(len(decisions.time), len(decisions.feature))", "(len(decisions.feature), len(decisions.time))"
            ),
            CHOSEN,
        ),
        ["`belief`", "dims"],
    ),
    ("has no belief", inside(CHOSEN), ["`belief`", "`rho_env`"]),
    ("has no chosen", inside(BELIEF), ["`chosen`"]),
    ("has chosen without dims", inside(BELIEF, CHOSEN.replace(", dims='time'", "")), ["`chosen`", "dims"]),
    (
        "does not observe chosen",
        inside(BELIEF, "pm.Categorical('chosen', p=[0.5, 0.5], dims='time')"),
        ["`chosen`", "observe"],
    ),
    (
        "observes other choices",
        inside(BELIEF, "pm.Categorical('chosen', p=[0.5, 0.5], observed=[0, 1], dims='time')"),
        ["chosen"],
    ),
    ("has a prior without a density", inside(BELIEF, CHOSEN, "pm.Normal('x', sigma=-1.0)"), ["x"]),
    ("has a prior of NaN", inside(BELIEF, CHOSEN, "pm.Normal('x', mu=float('nan'))"), ["x"]),
    (
        "gives a choice no probability",
        inside(BELIEF, CHOSEN.replace("[0.5, 0.5]", "[1.0, 0.0]"), "pm.Normal('x')"),
        ["chosen"],
    ),
]


def file(content: str | bytes) -> Make:
    def make(folder: Path) -> None:
        log(folder)
        (folder / "own.py").write_bytes(content.encode() if isinstance(content, str) else content)

    return make


COMMANDS = {
    "fit": ["fit", "own.py", "log.csv", "--draws", "5", "--tune", "5", "--chains", "1"],
    "simulate": ["simulate", "own.py", "--steps", "5"],
    "check": ["check", "own.py"],
}
KINDS = [
    Kind(f"{verb}: a file with {name}", command, words, file(content))
    for name, content, words in FILES
    for verb, command in COMMANDS.items()
]
KINDS += [
    Kind(f"{verb}: a model that {name}", command, words, file(content))
    for name, content, words in RETURNED
    for verb, command in COMMANDS.items()
    if verb != "check"
]
KINDS += [Kind(f"fit: a model that {name}", COMMANDS["fit"], words, file(content)) for name, content, words in FITTED]
