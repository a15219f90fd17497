"""The tables that `icb bench` prints."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from icb_pymc.bench.measure import cold_and_warm

KERNELS = {
    "engine": "the engine",
    "gibbs": "exact Gibbs/MH steps",
    "paper": "the paper's kernel",
    "nuts": "PyMC NUTS",
    "nutpie": "nutpie",
}


def sampler_table(models: list[str], kernels: list[str], actions: list[int], steps: int, limit: float) -> Iterator[str]:
    """Effective draws per second, and seconds to agreement, line by line as they are measured."""
    yield f"four chains, one core, T = {steps}, k = 8; seconds until the worst R-hat of the beliefs is below 1.01"
    yield f"{'model':<8}{'A':>2}  {'sampler':<22}{'worst ESS/s':>12}{'median':>9}{'warm':>9}{'cold':>9}{'R-hat':>7}"
    for model in models:
        for count in actions:
            for kernel in kernels:
                if kernel == "nutpie" and find_spec("nutpie") is None:
                    yield f"{model:<8}{count:>2}  {KERNELS[kernel]:<22}{'not installed':>12}"
                    continue
                asked = {"model": model, "kernel": kernel, "steps": steps, "actions": count, "limit": limit}
                yield f"{model:<8}{count:>2}  {KERNELS[kernel]:<22}" + _figures(cold_and_warm(asked), limit)


def _figures(found: dict[str, Any], limit: float) -> str:
    if "error" in found:
        return f"  failed: {found['error']}"
    # The longest run says most about the rate; the first, cold and warm, about compilation.
    run = found["agreed"] or found["first"]
    rates = f"{run['worst'] / run['drawing']:>12.3g}{run['median'] / run['drawing']:>9.3g}"
    if found["agreed"] is None or "error" in found["cold"]:
        return f"{rates}{f'> {limit:.0f}':>9}{'':>9}{run['rhat']:>7.3f}"
    compiling = found["cold"]["first"]["seconds"] - found["first"]["seconds"]
    return f"{rates}{run['seconds']:>9.1f}{run['seconds'] + max(compiling, 0.0):>9.1f}{run['rhat']:>7.3f}"


def growth_table(lengths: list[int]) -> Iterator[str]:
    """Time of a draw of the engine and of Laplace's method as the log grows."""
    from icb_pymc.fitting import fit
    from icb_pymc.inference_data import group
    from icb_pymc.models.nb_icb import paper
    from icb_pymc.simulation import simulate

    yield "NB-ICB, k = 8, two candidates"
    yield f"{'T':>8}{'engine ms/draw':>16}{'us/(draw T)':>13}{'steps':>7}{'laplace s':>11}"
    for steps in lengths:
        decisions = simulate("sampling", steps=steps, seed=0)
        given = paper(decisions).hyperparameters
        every = max(1, steps // 500)
        options: dict[str, Any] = {"every": every, "log_likelihood": False, "progressbar": False, "seed": 0}
        trace = fit("nb_icb", decisions, kernel="engine", draws=50, tune=100, chains=1, cores=1, **options, **given)
        per_draw = float(trace.attrs["drawing_seconds"]) / 150
        taken = float(group(trace, "sample_stats")["hmc_steps"].mean())
        started = time.perf_counter()
        fit("nb_icb", decisions, method="laplace", draws=50, **options, **given)
        laplace = time.perf_counter() - started
        yield f"{steps:>8}{1e3 * per_draw:>16.2f}{1e6 * per_draw / steps:>13.2f}{taken:>7.1f}{laplace:>11.2f}"


def psytrack_table(steps: int) -> Iterator[str]:
    """Maximised evidence of a dynamic logit, by PsyTrack and by us."""
    from icb_pymc.bench.psytrack_mode import by_laplace, by_psytrack
    from icb_pymc.simulation import simulate

    decisions = simulate("sampling", steps=steps, seed=0)
    yield f"dynamic logit with a scale for each feature, T = {steps}, k = 8: hyperparameters by maximised evidence"
    yield f"{'':<12}{'log evidence':>14}{'seconds':>9}"
    # Once before it is timed: both compile when they are first used.
    by_laplace(decisions.isel(time=slice(0, 20)))
    rows = {"icb_pymc": by_laplace}
    if find_spec("psytrack") is not None:
        rows["PsyTrack"] = by_psytrack
    for name, measure in rows.items():
        found = measure(decisions)
        yield f"{name:<12}{found['log_evidence']:>14.3f}{found['seconds']:>9.2f}"
    if "PsyTrack" not in rows:
        yield "PsyTrack is not installed (pip install 'icb-pymc[bench]')."
