"""What the picture of several agents shows, read back from the drawing."""

import matplotlib as mpl
import numpy as np
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc import fit, write_trace
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.cli import main
from icb_pymc.data.deciders import with_agents
from icb_pymc.errors import InputError
from icb_pymc.plots.agents import importance_by_agent
from icb_pymc.results.inference_data import group

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
    assert "--agent can only be used with the importance picture" in capsys.readouterr().err
