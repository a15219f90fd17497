"""What the picture of several agents shows, read back from the drawing."""

import matplotlib as mpl
import numpy as np
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc import fit, write_trace
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.assess.weights import log_odds_weights
from icb_pymc.cli import main
from icb_pymc.data.deciders import with_agents
from icb_pymc.errors import InputError
from icb_pymc.plots.agents import have_own_beliefs, importance_by_agent, weights_by_agent
from icb_pymc.results.inference_data import from_groups, group

mpl.use("Agg")


@pytest.fixture(scope="module")
def several():
    rng = np.random.default_rng(0)
    arrivals = make_arrivals(20, 2, 3)
    truth = {name: (("time", "feature"), rng.normal(size=(20, 3))) for name in ("true_belief", "true_trend")}
    decisions = arrivals.assign(chosen=("time", rng.integers(2, size=20)), **truth)
    decisions = with_agents(decisions, ["Turin", "Bari", "Turin", "Rome"] * 5)
    return fit(
        "hierarchical_nb_icb", decisions, {"clock": "calendar"}, method="laplace", draws=30, seed=1, progressbar=False
    )


def test_lines_are_the_medians_at_the_decisions_of_each_agent_and_of_the_trend(several):
    figure = importance_by_agent(several, agents=["Turin"], features=["feature_1"])
    drawn = dict(zip(("Turin", "truth", "trend", "true trend"), figure.axes[0].get_lines(), strict=True))
    posterior, data = group(several, "posterior"), group(several, "constant_data")
    own = np.arange(0, 20, 2)
    expected = {
        "Turin": relative_importance(posterior["belief"]).isel(time=own).median(("chain", "draw")),
        "truth": relative_importance(data["true_belief"]).isel(time=own),
        "trend": relative_importance(posterior["trend"]).median(("chain", "draw")),
        "true trend": relative_importance(data["true_trend"]),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(drawn[name].get_ydata(), values.sel(feature="feature_1"))
    np.testing.assert_array_equal(drawn["Turin"].get_xdata(), 1 + own)


def test_by_default_all_agents_are_drawn_with_a_panel_for_each_feature(several):
    figure = importance_by_agent(several, events={10: "guideline"})
    assert [ax.get_title() for ax in figure.axes] == ["feature 0", "feature 1", "feature 2"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Bari", "Rome", "Turin", "trend"]
    assert [text.get_text().strip() for text in figure.axes[0].texts] == ["guideline"]


def test_invalid_arguments_are_refused(several, trace):
    with pytest.raises(InputError, match="no agent 'Oslo' in the decisions; the agents are Bari, Rome, Turin"):
        importance_by_agent(several, agents=["Oslo"])
    with pytest.raises(InputError, match="7 agents are too many"):
        importance_by_agent(several, agents=["Turin"] * 7)
    with pytest.raises(InputError, match="do not say who decided"):
        importance_by_agent(trace)


def test_the_command_draws_agents_by_name_and_refuses_them_for_radars(several, tmp_path, capsys):
    path, picture = str(tmp_path / "trace.nc"), tmp_path / "agents.png"
    write_trace(several, path)
    assert main(["plot", "importance", path, "--agent", "Bari", "--agent", "Turin", "-o", str(picture)]) == 0
    assert picture.stat().st_size > 10_000
    assert main(["plot", "radar", path, "--agent", "Bari", "-o", str(picture)]) == 2
    assert "--agent can only be used with weights and importance" in capsys.readouterr().err


def test_weights_of_an_agent_are_the_medians_at_its_own_decisions(several):
    figure = weights_by_agent(several, agents=["Turin"], features=["feature_1"])
    weights = log_odds_weights(several).sel(feature="feature_1").median(("chain", "draw"))
    np.testing.assert_allclose(figure.axes[0].get_lines()[0].get_ydata(), weights.isel(time=slice(None, None, 2)))
    assert "log-odds per standard deviation" in figure.get_supylabel()


def test_an_agent_of_whom_a_trace_keeps_no_time_is_left_out(several):
    posterior = group(several, "posterior").isel(time=[0, 2])
    few = from_groups({"posterior": posterior, "constant_data": group(several, "constant_data")}, several.attrs)
    for draw in (importance_by_agent, weights_by_agent):
        assert [text.get_text() for text in draw(few).legends[0].get_texts()] == ["Turin", "trend"]


@pytest.mark.parametrize("picture", ["weights", "importance"])
def test_the_command_draws_one_line_where_all_agents_share_one_belief(picture, several, tmp_path, capsys, monkeypatch):
    pooled = from_groups(
        {
            "posterior": group(several, "posterior")[["belief"]],
            "observed_data": group(several, "observed_data"),
            "constant_data": group(several, "constant_data"),
        },
        dict(several.attrs) | {"model": "nb_icb"},
    )
    assert have_own_beliefs(several)
    assert not have_own_beliefs(pooled)
    path, drawn = str(tmp_path / "pooled.nc"), []
    write_trace(pooled, path)
    monkeypatch.setattr("icb_pymc.cli.plot.write_picture", lambda draw, _: drawn.append(draw()))
    assert main(["plot", picture, path, "-o", str(tmp_path / "pooled.png")]) == 0
    (figure,) = drawn
    assert {text.get_text() for text in figure.axes[0].get_legend().get_texts()} == {f"feature {i}" for i in range(3)}
    assert main(["plot", picture, path, "--agent", "Bari", "-o", str(tmp_path / "pooled.png")]) == 2
    assert "all agents of this trace have the same weights" in capsys.readouterr().err
