"""One hierarchical model of 200 subjects: how its time grows with their number, and whether its chains agree.

Subjects make 500 decisions between two candidates with three features. Their first weights come from one population,
and then move on clocks of their own; all three scales are learnt. The table has the CPU seconds of an iteration for
more and more subjects, and a whole run of the largest number: time, memory, R-hat and effective draws, and the scales
beside those that the decisions were simulated with.

    python examples/many_subjects_hierarchy.py -o examples/tables/hierarchy.md
"""

import argparse
import resource
import statistics
import time

import numpy as np

import icb_pymc
from icb_pymc.io.files import replacing
from icb_pymc.models import hierarchical_nb_icb
from icb_pymc.results.inference_data import group
from icb_pymc.steps import UtilityHMC

FEATURES = ["price", "quality", "distance"]
POPULATION = np.array([-1.0, 0.8, -0.4])
# In weights: standard deviation of the first ones between subjects, and of the movement over all decisions.
DEVIATION, MOVEMENT = 0.5, 0.5
SCALES = ("total_movement", "start_scale", "deviation_scale")
SUBJECTS = (25, 50, 100, 200)


def simulated(subjects: int, decisions: int):
    """Decisions of so many subjects."""
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(subjects, decisions, 2, len(FEATURES)))
    first = POPULATION + DEVIATION * rng.normal(size=(subjects, 1, len(FEATURES)))
    moves = MOVEMENT / np.sqrt(decisions - 1) * rng.normal(size=(subjects, decisions, len(FEATURES)))
    moves[:, 0] = 0.0
    weights = first + np.cumsum(moves, axis=1)
    utility = np.einsum("staf,stf->sta", contexts, weights) + rng.gumbel(size=contexts.shape[:3])
    return icb_pymc.from_arrays(
        contexts.reshape(-1, 2, len(FEATURES)),
        utility.argmax(axis=-1).ravel(),
        features=FEATURES,
        agent=np.repeat([f"subject {number + 1}" for number in range(subjects)], decisions),
    )


def seconds_per_iteration(decisions, tune: int = 120, draws: int = 60) -> float:
    """CPU seconds of an iteration of one chain: everything is compiled, and proposals are made as after tuning."""
    with hierarchical_nb_icb(decisions) as model:
        step = UtilityHMC(model.free_RVs, rng=np.random.default_rng(0))
    point, seconds = model.initial_point(), []
    for _ in range(tune + draws):
        started = time.process_time()
        point, _ = step.step(point)
        seconds.append(time.process_time() - started)
    return statistics.mean(seconds[tune:])


def whole_run(decisions, options):
    """Fit and diagnose: rows of a table."""
    started = time.process_time()
    trace = icb_pymc.fit("hierarchical_nb_icb", decisions, seed=0, cores=1, progressbar=False, **options)
    fitted = time.process_time()
    diagnosis = icb_pymc.diagnose(trace)
    diagnosed = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return trace, diagnosis, fitted - started, diagnosed - fitted, memory


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subjects", type=int, nargs="+", default=SUBJECTS)
    parser.add_argument("--decisions", type=int, default=500)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--tune", type=int, default=300)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("-o", "--output", default="hierarchy.md")
    asked = parser.parse_args()
    seconds = {number: seconds_per_iteration(simulated(number, asked.decisions)) for number in asked.subjects}
    print("CPU seconds per iteration:", seconds, flush=True)
    decisions = simulated(max(asked.subjects), asked.decisions)
    options = {"chains": asked.chains, "tune": asked.tune, "draws": asked.draws}
    trace, diagnosis, fitted, diagnosed, memory = whole_run(decisions, options)
    posterior = group(trace, "posterior")
    # Scales are in log-odds per typical difference between two candidates: its root mean square is that of two normals.
    spread = float(np.sqrt(2.0))
    truth = {"total_movement": MOVEMENT * spread, "deviation_scale": DEVIATION * spread}
    lines = [
        f"# Hierarchical NB-ICB: up to {max(asked.subjects)} subjects of {asked.decisions} decisions, "
        f"{len(FEATURES)} features",
        "",
        "`python examples/many_subjects_hierarchy.py`; all scales learnt. Other programs used the same two cores: CPU "
        "seconds count, not the clock.",
        "",
        "| subjects | CPU s per iteration | per 10,000 decisions |",
        "|---|---|---|",
        *(f"| {n} | {s:.3f} | {1e4 * s / (n * asked.decisions):.4f} |" for n, s in seconds.items()),
        "",
        f"A whole run of {max(asked.subjects)} subjects: {asked.chains} chains, {asked.tune} steps of tuning and "
        f"{asked.draws} draws each.",
        "",
        "| | |",
        "|---|---|",
        f"| CPU s, compiling included | {fitted:.0f} |",
        f"| CPU s of `diagnose` | {diagnosed:.0f} |",
        f"| largest memory, MB | {memory:.0f} |",
        f"| verdict of `diagnose` | {diagnosis.verdict} |",
        "",
        "| scale | mean | sd | simulated with | R-hat | effective draws |",
        "|---|---|---|---|---|---|",
    ]
    for name in SCALES:
        draws = posterior[name].values
        known = f"{truth[name]:.3f}" if name in truth else ""
        component = diagnosis.components[name]
        r_hat, effective = float(component["rhat"]), float(component["ess_bulk"])
        lines.append(f"| {name} | {draws.mean():.3f} | {draws.std():.3f} | {known} | {r_hat:.3f} | {effective:.0f} |")
    with replacing(asked.output) as temporary:
        temporary.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
