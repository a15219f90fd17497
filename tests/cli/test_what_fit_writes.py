"""Whatever `icb fit` writes, every verb that takes a trace reads: over shapes of the log, and names of all kinds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from icb_pymc.cli import main

# Letters of several scripts, and what means something to files, mathematics, formulas, HTML or terminals.
LETTERS = "abcXYZ019 äßéЖ中$%<>&\"'/\\_^{}()[]:;,.=+-*#@!?|~"
NAMES = st.text(LETTERS, min_size=1, max_size=40).map(lambda text: f"n{text}".rstrip())
WIDTHS = st.one_of(st.integers(1, 4), st.integers(20, 30))


@st.composite
def tables(draw):
    """A long table: decisions, candidates, features, agents and sessions, with names."""
    steps, features = draw(st.integers(3, 25)), draw(st.integers(1, 4))
    widths = np.minimum(draw(st.lists(WIDTHS, min_size=steps, max_size=steps)), draw(st.sampled_from([2, 5, 30])))
    candidates = draw(st.lists(NAMES, min_size=int(widths.max()), max_size=int(widths.max()), unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    decision = np.repeat(np.arange(steps), widths)
    slot = np.concatenate([np.arange(width) for width in widths])
    table = pd.DataFrame(
        {
            "decision": decision,
            "candidate": np.array(candidates, dtype=object)[slot],
            "chosen": (slot == rng.integers(widths)[decision]).astype(int),
        }
    )
    if draw(st.booleans()):
        dates = pd.Timestamp("2001-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 900, steps)), "D")
        table["time"] = dates[decision]
    if draw(st.booleans()):
        agents = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
        table["agent"] = np.array(agents, dtype=object)[rng.integers(len(agents), size=steps)][decision]
    elif draw(st.booleans()):
        table["session"] = np.sort(rng.integers(0, 4, steps))[decision]
    for name in draw(st.lists(NAMES, min_size=features, max_size=features, unique_by=str.lower)):
        table[name] = rng.normal(size=len(table)).round(3)
    return table


def ways_to_read(trace, folder, dated):
    """Command lines of the verbs that take a trace, or what was written of one."""
    moment = "2001-06-01" if dated else "2"
    yield ["diagnose", trace]
    yield ["table", trace, "-o", str(folder / "weights.csv")]
    yield ["impact", trace, "--event", f"{moment}=<event & $x$>"]
    yield ["share", trace, "-o", str(folder / "shared.nc"), "--every", "2"]
    yield ["table", str(folder / "shared.nc"), "-o", str(folder / "again.csv")]
    yield ["show", trace]
    yield ["convert", trace, "-o", str(folder / "decisions.csv")]
    yield ["show", str(folder / "decisions.csv")]
    for picture in ("weights", "importance", "choices"):
        yield ["plot", picture, trace, "-o", str(folder / f"{picture}.png")]
    yield ["compare", trace, str(folder / "shared.nc")]
    yield ["report", trace, "--quick", "-o", str(folder / "report.html")]


def check(table, folder, capsys, every):
    """Fit a table and run every verb: an answer, or one sentence for what the log cannot answer."""
    log, trace = str(folder / "log.csv"), str(folder / "trace.nc")
    table.to_csv(log, index=False)
    options = ["--method", "laplace", "--draws", "100", "--seed", "0", *every]
    code = main(["fit", "nb_icb", log, "-o", trace, *options])
    said = capsys.readouterr()
    if code == 2:
        # A table may be refused, but not because of what a trace can hold.
        assert "trace" not in said.err.replace("trace.nc", "")
        return
    assert code == 0, said.err
    for arguments in ways_to_read(trace, folder, "time" in table):
        code = main(arguments)
        said = capsys.readouterr()
        assert code in (0, 1, 2), arguments
        assert "Traceback" not in said.err
        assert "is refused" not in said.err, (arguments, said.err)
        if arguments[0] in ("diagnose", "share", "table", "convert", "show") or arguments[1] in (
            "weights",
            "importance",
        ):
            assert code != 2, (arguments, said.err)


def run(examples):
    """The test, for so many tables."""

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        # Each example takes a second: it is reported as it was found.
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(table=tables(), every=st.sampled_from([[], [], ["--every", "2"]]))
    def on_every_table(table, every, folder, capsys):
        check(table, folder, capsys, every)

    return on_every_table


@pytest.mark.filterwarnings("ignore")
def test_every_verb_reads_what_fit_writes(tmp_path, capsys):
    run(2)(folder=tmp_path, capsys=capsys)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_verb_reads_what_fit_writes_over_many_tables(tmp_path, capsys):
    run(12)(folder=tmp_path, capsys=capsys)
