"""Jumps between the sessions of several agents: simulation and inference agree on them."""

import pytest

from icb_pymc import check


@pytest.mark.slow
def test_simulation_based_calibration_of_three_agents_in_two_sessions():
    sizes = {"replicates": 30, "steps": 36, "agents": 3, "sessions": 2, "draws": 300}
    result = check("hierarchical_nb_icb", **sizes, random_seed=2, jobs=1)
    assert result.passed, str(result)
    assert "session_movement" in result.table.index
