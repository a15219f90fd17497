"""Effects are told in the user's units by every verb that prints weights."""

import re

import numpy as np
import pandas as pd
import pytest

from icb_pymc import log_odds_weights, read_trace
from icb_pymc.cli import main


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A table with an income in euros and an urgency of 0 or 1, and its trace."""
    folder = tmp_path_factory.mktemp("units")
    rng = np.random.default_rng(0)
    income, urgent = 30_000 + 10_000 * rng.normal(size=(150, 2)), rng.integers(2, size=(150, 2))
    utility = 1e-4 * income + 0.8 * urgent + rng.gumbel(size=(150, 2))
    table = pd.DataFrame(
        {
            "decision": np.repeat(range(150), 2),
            "chosen": (np.arange(2) == utility.argmax(axis=1)[:, None]).astype(int).ravel(),
            "income": income.ravel().round(2),
            "urgent": urgent.ravel(),
        }
    )
    table.to_csv(folder / "log.csv", index=False)
    return folder


def test_every_verb_tells_the_same_weight_per_euro(fitted, capsys, monkeypatch):
    log, trace = str(fitted / "log.csv"), str(fitted / "trace.nc")
    options = ["--method", "laplace", "--draws", "200", "--seed", "0", "--unit", "user", "-o", trace]
    assert main(["fit", "nb_icb", log, *options]) == 0
    printed = capsys.readouterr().out
    assert "log-odds per unit of the feature" in printed
    weights = log_odds_weights(read_trace(trace), "user").sel(feature="income")
    first = float(weights.isel(time=0).mean())
    assert 5e-5 < first < 2e-4
    (row,) = [line for line in printed.splitlines() if line.startswith("income")]
    assert float(row.split()[1]) == pytest.approx(first, rel=0.01)
    assert "(the most probable value)" in printed

    assert main(["table", trace, "--unit", "user", "-o", str(fitted / "weights.csv")]) == 0
    told = pd.read_csv(fitted / "weights.csv").query("feature == 'income'")["weight"]
    # Of Laplace's method the Gaussian itself is told, of which the draws are a sample.
    np.testing.assert_allclose(told, weights.median(("chain", "draw")), rtol=0.05)

    drawn = []
    monkeypatch.setattr("icb_pymc.cli.plot.write_picture", lambda draw, _: drawn.append(draw()))
    assert main(["plot", "weights", trace, "--unit", "user", "--features", "income", "-o", "weights.png"]) == 0
    np.testing.assert_allclose(drawn[0].axes[0].get_lines()[0].get_ydata(), told, rtol=1e-5)
    assert "per unit" in drawn[0].get_supylabel()

    capsys.readouterr()
    assert main(["impact", trace, "--event", "75", "--json"]) == 0
    change = (weights.sel(time=slice(75, None)).mean("time") - weights.sel(time=slice(None, 74)).mean("time")).mean()
    (per_unit,) = re.findall(r'"feature": "income".*?"per_unit": ([-+.e0-9]+)', capsys.readouterr().out, re.DOTALL)[:1]
    assert float(per_unit) == pytest.approx(float(change), rel=0.05, abs=1e-7)

    assert main(["report", trace, "--quick", "--event", "75", "-o", str(fitted / "report.md")]) == 0
    assert "per unit" in (fitted / "report.md").read_text()
