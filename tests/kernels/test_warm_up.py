"""The kernels that are compiled in advance are those that sampling calls."""

import subprocess
import sys
import textwrap

# In a separate process, because other tests have already compiled the kernels in this one.
SCRIPT = """
    import pymc as pm
    from icb_pymc.kernels import blocked_recursions, hamiltonian, mode, pseudo_data, smoother, state_space
    from icb_pymc.kernels.warm_up import compile_engine
    from icb_pymc.models import b_icb, nb_icb
    from icb_pymc.sample.simulation import simulate
    from icb_pymc.steps.assign import engine_step

    modules = (mode, pseudo_data, hamiltonian, blocked_recursions, smoother, state_space)
    kernels = {name: value for module in modules for name, value in vars(module).items()}

    def loaded():
        return {name: len(kernel.signatures) for name, kernel in kernels.items() if hasattr(kernel, "signatures")}

    assert not any(loaded().values())
    compile_engine()
    before = loaded()
    assert before["_rotate_and_kick"] == 1
    for declare in (nb_icb, b_icb):
        model = declare(simulate("sampling", steps=12, actions=3, seed=0), alpha=pm.LogNormal.dist())
        (step,) = engine_step(model, with_rho=True)
        point = model.initial_point()
        for _ in range(25):
            point, _ = step.step(point)
    more = {name for name, count in loaded().items() if count > before[name]}
    assert not more, more
"""


def test_the_first_draws_compile_nothing_more():
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
