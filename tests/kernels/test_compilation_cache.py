"""The cache of compiled kernels, and kernels without compilation."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import numpy as np

from icb_pymc.kernels import compilation_cache
from icb_pymc.kernels.compilation_cache import DIGEST_FILE, clear_if_stale

CALLED = "import numba\n\n@numba.njit(cache=True)\ndef called(x):\n    return x + {}\n"
CALLER = "import numba\nfrom called import called\n\n@numba.njit(cache=True)\ndef caller(x):\n    return called(x)\n"


def test_compiled_functions_are_removed_if_and_only_if_a_file_changes(tmp_path):
    file, compiled = tmp_path / "one.py", tmp_path / "__pycache__" / "one.called-1.py311.nbi"
    file.write_text("x = 1\n")
    cache = compiled.parent
    clear_if_stale(tmp_path, cache)
    compiled.write_bytes(b"")
    clear_if_stale(tmp_path, cache)
    assert compiled.exists()
    file.write_text("x = 2\n")
    clear_if_stale(tmp_path, cache)
    assert not compiled.exists()


def test_a_function_is_recompiled_if_a_function_that_it_calls_changes_in_another_file(tmp_path):
    """Without `clear_if_stale` the second result would be 2 again: numba checks only the file of the caller."""
    (tmp_path / "caller.py").write_text(CALLER)
    script = """
        import sys, pathlib
        from icb_pymc.kernels.compilation_cache import clear_if_stale
        clear_if_stale(pathlib.Path.cwd(), pathlib.Path("__pycache__"))
        sys.path.insert(0, "")
        from caller import caller
        print(caller(1))
    """
    results = []
    for number in (1, 2):
        (tmp_path / "called.py").write_text(CALLED.format(number))
        command = [sys.executable, "-c", textwrap.dedent(script)]
        results.append(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip())
    assert results == ["2", "3"]


def test_compiled_kernels_are_stored_in_the_cache_folder_of_numba(tmp_path):
    script = "from icb_pymc.kernels.compilation_cache import cache_folder; print(cache_folder())"
    variables = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", script]
    folder = Path(subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout.strip())
    assert tmp_path in folder.parents
    assert (folder / DIGEST_FILE).is_file()


# One result of each kind of kernel: with arrays, with tuples of arrays, and with a generator.
RESULTS = """
    import json
    import numpy as np
    from icb_pymc.kernels import compilation_cache
    from icb_pymc.kernels.alternation import alternate
    from icb_pymc.kernels.expectation_propagation import predict_choices
    from icb_pymc.kernels.belief_given_rho import draw_belief_path, path_gains
    from icb_pymc.kernels.choice_integral import integrate_choices
    from icb_pymc.kernels.hamiltonian import fresh_noise, hmc_trajectory, make_position, make_reference
    from icb_pymc.kernels.metropolis import choice_contrasts
    from icb_pymc.kernels.mode import find_mode
    from icb_pymc.kernels.pairwise_ranking import ranking_log_likelihood
    from icb_pymc.kernels.reward_given_rho import covariance_path, reward_gains
    from icb_pymc.kernels.segment_scores import evidence_of_segments
    from icb_pymc.kernels.segmentation import best_segmentations
    from icb_pymc.kernels.state_space import StateSpace
    from icb_pymc.kernels.weights_metropolis import contrast_columns, make_scratch, walk_fold

    rng = np.random.default_rng(0)
    T, k = 6, 2
    context = rng.standard_normal((T, 3, k))
    contrasts = choice_contrasts(context, np.ones((T, 3), bool), np.zeros(T, int), 2.0)
    rows = len(contrasts.values)
    loading = contrasts.values @ np.diag([0.5, 0.3])

    def state_space(decay):
        none = np.zeros((1, 0, k))
        moves = (decay, none, none, np.zeros((1, k)), np.full(1, 0.4), np.eye(k)[None])
        return StateSpace(np.zeros(k), np.eye(k), *moves, contrasts.first, np.zeros(rows), contrasts.values, loading)

    results = {}
    for name, decay in {"static": np.empty((0, k)), "decaying": np.full((1, k), 0.7)}.items():
        space = state_space(decay)
        mode = find_mode(space)
        reference = make_reference(space, mode.data)
        position = make_position(reference, fresh_noise(reference, rng).path)
        proposal, energy_error = hmc_trajectory(reference, position, fresh_noise(reference, rng), 4, 2.0)
        forecasts = np.empty(T)
        predict_choices(space, rng.standard_normal((32, k)), forecasts)
        results[name] = [mode.log_evidence, energy_error, *proposal.contrasts, *forecasts]

    beliefs = covariance_path(np.eye(k), context[:, 0].copy(), 0.3)
    gains = reward_gains(beliefs.covariance, context[:, 0].copy(), 0.3)
    rho, kept = np.zeros((T, k)), np.empty((2, T, k))
    expected = alternate(gains, beliefs, contrasts, np.zeros(k), np.ones(k), 0.3, False, 5, rng, rho, kept)
    results["alternation"] = [*expected.reward, expected.strength_slope, expected.acceptance_rate, *rho.ravel()]

    path = np.empty((T, k))
    draw_belief_path(path_gains(np.eye(k), np.full(k, 0.2), np.ones(T - 1)), np.zeros(k), rho, np.ones((T, k)), path)
    log_chosen, odds, points = np.empty((1, T)), np.zeros(rows), rng.standard_normal((32, k))
    draws = (np.ones(1), np.zeros(1), path[None], loading[None])
    integrate_choices(contrasts.first, contrasts.values, *draws, points, log_chosen, odds)
    results["choices"] = [*path.ravel(), *log_chosen.ravel(), *odds]

    data, weights, gradient = contrast_columns(contrasts), np.zeros(k), np.empty(T)
    accepted = walk_fold(data, 0, T, np.zeros(k), np.eye(k), 0.5, 20, rng, weights, make_scratch(data))
    scores = evidence_of_segments(contrasts, np.array([0, 2, 4, 6]), np.zeros(k), np.eye(k))
    best, last = best_segmentations(scores, 2)
    results["segments"] = [accepted, *weights, best[2, 3], *last.ravel()]
    results["ranking"] = [ranking_log_likelihood(context[:, 0, 0].copy(), gradient), *gradient]
    is_compiled = compilation_cache.cache_folder() is not None
    print(json.dumps([is_compiled, {name: [float(x) for x in values] for name, values in results.items()}]))
"""


def test_without_compilation_kernels_are_plain_python_with_the_same_results():
    """NUMBA_DISABLE_JIT=1, for debugging and coverage. Compiled sums may have another order, hence the tolerance."""
    command = [sys.executable, "-c", textwrap.dedent(RESULTS)]
    outputs = []
    for disabled in ("0", "1"):
        variables = os.environ | {"NUMBA_DISABLE_JIT": disabled}
        finished = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
        outputs.append(json.loads(finished.stdout))
    (is_compiled, compiled), (is_still_compiled, plain) = outputs
    assert (is_compiled, is_still_compiled) == (True, False)
    assert compiled.keys() == plain.keys()
    for name, values in compiled.items():
        np.testing.assert_allclose(plain[name], values, rtol=1e-8, atol=1e-8, err_msg=name)


def test_where_numba_can_store_nothing_kernels_are_stored_in_a_private_folder_of_the_process(monkeypatch):
    compile_kernel, asked = numba.njit, []

    def njit(cache):
        asked.append(cache)
        if len(asked) == 1:
            raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")
        return compile_kernel(cache=cache)

    monkeypatch.setattr(numba, "njit", njit)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert compilation_cache._cached(lambda x: x + 1)(1) == 2
    folder = Path(numba.config.CACHE_DIR)
    assert folder.stat().st_mode & 0o077 == 0
    shutil.rmtree(folder)
