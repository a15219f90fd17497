"""The tables that `icb bench` prints."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from icb_pymc.bench.measure import MAX_RHAT, measure_cold_and_warm

# Settings of `long_table`.
LONG_TUNE, LONG_DRAWS, LONG_MAX_RHAT = 80, 200, 1.05
SAMPLER_NAMES = {
    "engine": "the engine",
    "gibbs": "exact Gibbs/MH steps",
    "paper": "the paper's kernel",
    "nuts": "PyMC NUTS",
    "nutpie": "nutpie",
    "numpyro": "numpyro NUTS",
    "blackjax": "blackjax NUTS",
}
# Those which this package does not install.
OPTIONAL = ("nutpie", "numpyro", "blackjax")


def sampler_table(models: list[str], kernels: list[str], actions: list[int], steps: int, limit: float) -> Iterator[str]:
    """Effective sample size per second, and seconds until convergence, line by line as they are measured."""
    yield f"four chains, one core, T = {steps}, k = 8: effective sample size (ESS) of beliefs per second with tuning:"
    yield "of the worst component (bulk, and tails: the 5% and 95% quantiles), and the median over components (bulk);"
    yield f"seconds from the start until the worst R-hat is < {MAX_RHAT}, with compiled code (warm) or without (cold);"
    yield "R-hat and worst ESS of that run, or of the longest run within the limit"
    headings = (
        f"{'worst ESS/s':>12}{'engine is':>11}{'tails':>9}{'median':>9}{'warm s':>9}{'cold s':>9}{'R-hat':>7}{'ESS':>7}"
    )
    yield f"{'model':<8}{'A':>2}  {'sampler':<22}{headings}"
    for model in models:
        for count in actions:
            engine: float | None = None
            others: dict[str, float] = {}
            for kernel in kernels:
                row = f"{model:<8}{count:>2}  {SAMPLER_NAMES[kernel]:<22}"
                if kernel in OPTIONAL and find_spec(kernel) is None:
                    yield f"{row}{'not installed':>12}"
                    continue
                request = {"model": model, "kernel": kernel, "steps": steps, "actions": count, "limit": limit}
                result = measure_cold_and_warm(request)
                if "error" not in result:
                    rate = result["worst"] / result["drawing"]
                    if kernel == "engine":
                        engine = rate
                    else:
                        others[kernel] = rate
                yield row + _format_result(result, limit, None if kernel == "engine" else engine)
            if engine is not None and others:
                best = max(others, key=others.__getitem__)
                ratio = f"engine is {engine / others[best]:,.0f} x"
                yield f"{model:<8}{count:>2}  best of the others: {SAMPLER_NAMES[best]}; {ratio}"


def _format_result(result: dict[str, Any], limit: float, engine: float | None) -> str:
    if "error" in result:
        return f"  failed: {result['error']}"
    worst, tail, median = (result[name] / result["drawing"] for name in ("worst", "tail", "median"))
    times = "" if engine is None else f"{engine / worst:,.0f} x"
    warm, cold = f"{result['seconds']:.1f}", f"{result['seconds'] + result['compiling']:.1f}"
    if result["rhat"] >= MAX_RHAT:
        warm = cold = f"> {max(limit, result['seconds']):.0f}"
    rates = f"{_format_rate(worst):>12}{times:>11}{_format_rate(tail):>9}{_format_rate(median):>9}"
    return f"{rates}{warm:>9}{cold:>9}{result['rhat']:>7.3f}{result['worst']:>7.0f}"


def _format_rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def long_table(steps: int) -> Iterator[str]:
    """A very long log: seconds of Laplace's method, and of the engine until its chains converge."""
    from icb_pymc.assess.convergence import bulk_ess, rank_rhat
    from icb_pymc.models.nb_icb import paper
    from icb_pymc.results.inference_data import group
    from icb_pymc.sample.fitting import fit
    from icb_pymc.sample.simulation import simulate

    decisions = simulate("sampling", steps=steps, seed=0)
    hyperparameters = paper(decisions).hyperparameters
    options: dict[str, Any] = {"every": max(1, steps // 500), "progressbar": False, "seed": 0}
    _warm_up()
    yield f"NB-ICB, T = {steps:,}, k = 8, two candidates: seconds from the start; four chains on all cores"
    started = time.perf_counter()
    fit("nb_icb", decisions, method="laplace", draws=50, hyperparameters=hyperparameters, **options)
    yield f"Laplace: {time.perf_counter() - started:.1f} s"
    draws, rhat = LONG_DRAWS, np.inf
    while rhat >= LONG_MAX_RHAT:
        started = time.perf_counter()
        trace = fit(
            "nb_icb",
            decisions,
            kernel="engine",
            draws=draws,
            tune=LONG_TUNE,
            hyperparameters=hyperparameters,
            **options,
        )
        seconds = time.perf_counter() - started
        belief, stats = group(trace, "posterior")["belief"], group(trace, "sample_stats")
        rhat, ess = float(rank_rhat(belief).max()), float(bulk_ess(belief).min())
        yield (
            f"engine, {LONG_TUNE} + {draws} draws: {seconds:.1f} s, worst R-hat {rhat:.3f} "
            f"({'below' if rhat < LONG_MAX_RHAT else 'not below'} {LONG_MAX_RHAT}), worst ESS {ess:.0f}, "
            f"{float(stats['hmc_steps'].mean()):.1f} steps per draw, acceptance {float(stats['hmc_accept'].mean()):.2f}"
        )
        draws *= 2


def _warm_up() -> None:
    """Fit once before anything is timed, since the first use compiles kernels and imports modules."""
    from icb_pymc.sample.fitting import fit
    from icb_pymc.sample.simulation import simulate

    decisions = simulate("sampling", steps=20, seed=0)
    fit("nb_icb", decisions, draws=4, tune=4, chains=1, progressbar=False)


def psytrack_table(trials: int = 10_000) -> Iterator[str]:
    """Greatest evidence of PsyTrack's models on its rat, by PsyTrack and by this package, and how long it takes."""
    if find_spec("psytrack") is None:
        yield "PsyTrack, whose rat this table is about, is not installed (pip install 'icb-pymc[bench]')."
        return
    from icb_pymc.bench.psytrack_mode import MODELS, at_maximum, by_laplace, by_psytrack, rat

    # A first call before anything is timed, since it compiles the kernels.
    by_laplace(rat(("bias", "s1"), 20), False)
    yield f"rat W053, {trials:,} trials: scales of each weight at the greatest evidence (sigInit 16), in CPU seconds"
    yield "there: evidence by icb_pymc where PsyTrack's search ended"
    yield f"{'':<18}{'icb_pymc':>12}{'s':>7}{'PsyTrack':>12}{'s':>7}{'there':>12}"
    for name, (weights, with_sessions) in MODELS.items():
        decisions = rat(weights, trials)
        ours, theirs = (measure(decisions, with_sessions) for measure in (by_laplace, by_psytrack))
        numbers = "".join(f"{found.log_evidence:>12.3f}{found.seconds:>7.1f}" for found in (ours, theirs))
        yield f"{name:<18}{numbers}{at_maximum(decisions, theirs):>12.3f}"
