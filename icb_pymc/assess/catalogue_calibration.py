"""Whether inference is right with every model of the catalogue that claims a posterior, in one table."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from icb_pymc.assess.calibration import LEVEL, Check, check
from icb_pymc.catalogue.lookup import entries
from icb_pymc.errors import InputError

# Why a model is left out: what it has is not a posterior given the choices.
WITHOUT_POSTERIOR = {
    "cp_irl": "its change points are estimated from the choices before it is declared; given these it is `m_fold_irl`",
    "t_rex": "it ranks decisions by their order: a likelihood of pairs, not of choices, and a point estimate",
    "switching": "nothing is unknown: the policies are given",
    "uniform": "nothing is unknown",
}
# Agents that decide in turn, for models that must know who decides.
AGENTS = {"hierarchical_nb_icb": 3}


@dataclass
class CatalogueCheck:
    """Results of `check` for many models; print it for a summary.

    Attributes
    ----------
    settings : dict
        Replicates, steps and seed.
    checks : dict of Check
        By model, in the order in which they were made.
    """

    settings: dict[str, int]
    checks: dict[str, Check] = field(default_factory=dict)

    @property
    def table(self) -> pd.DataFrame:
        """Of each quantity of each model, its `p_value`, this `corrected` for their number (Holm), and `ess`."""
        tables = {name: check.table for name, check in self.checks.items() if check.table is not None}
        if not tables:
            raise InputError("no model has anything to calibrate.")
        table = pd.concat(tables, names=["model"])
        table.insert(1, "corrected", holm(table["p_value"].to_numpy()))
        return table

    @property
    def problems(self) -> dict[str, tuple[str, ...]]:
        """What is wrong with declarations, by model."""
        return {name: check.problems for name, check in self.checks.items() if check.problems}

    @property
    def wrong(self) -> list[tuple[str, str]]:
        """Models and quantities that are not calibrated."""
        return list(self.table.index[self.table["corrected"] < LEVEL])

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems and not self.wrong

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """A table in Markdown with a row for each model, one with a row for each quantity, and what is not checked."""
        table = self.table.reset_index()
        yield (
            f"{self.settings['replicates']} logs of {self.settings['steps']} decisions for each model, seed "
            f"{self.settings['seed']}; {len(table)} p-values, corrected by Holm's method for all of them."
        )
        yield ""
        yield _row("model", "quantities", "least p-value", "of", "corrected", "least ESS")
        yield _row("---", "---:", "---:", "---", "---:", "---:")
        for name, rows in table.groupby("model", sort=False):
            worst = rows.sort_values("p_value").iloc[0]
            numbers = f"{worst['p_value']:.3g}", worst["quantity"], f"{worst['corrected']:.3g}"
            yield _row(f"`{name}`", str(len(rows)), *numbers, f"{rows['ess'].min():.0f}")
        yield ""
        for model, found in self.problems.items():
            yield f"`{model}` is wrong: {' '.join(found)}"
        for model, quantity in self.wrong:
            yield f"`{model}` is wrong: of {quantity}, {self.table['verdict'][model, quantity]}."
        if self.passed:
            yield f"No corrected p-value is below {LEVEL}."
        yield ""
        yield "Not checked, as they claim no posterior of what they estimate:"
        yield ""
        yield from (f"- `{model}`: {reason}." for model, reason in WITHOUT_POSTERIOR.items())
        yield ""
        yield "## Every quantity"
        yield ""
        yield _row("model", "quantity", "p-value", "corrected", "ESS")
        yield _row("---", "---", "---:", "---:", "---:")
        for _, row in table.iterrows():
            numbers = f"{row['p_value']:.3g}", f"{row['corrected']:.3g}", f"{row['ess']:.0f}"
            yield _row(f"`{row['model']}`", row["quantity"], *numbers)


def check_all(
    models: list[str] | None = None,
    *,
    replicates: int = 50,
    steps: int = 25,
    draws: int | None = None,
    random_seed: int = 0,
    jobs: int | None = None,
    progressbar: bool = False,
) -> CatalogueCheck:
    """Check every model of the catalogue that claims a posterior, one after the other (see `check`).

    Parameters
    ----------
    models : list of str, optional
        Names of models; by default all but those of `WITHOUT_POSTERIOR`.
    replicates, steps, draws, random_seed, jobs, progressbar
        As in `check`.

    Returns
    -------
    CatalogueCheck

    Raises
    ------
    InputError
        As `check`.
    """
    names = models or [entry.name for entry in entries() if entry.name not in WITHOUT_POSTERIOR]
    result = CatalogueCheck({"replicates": replicates, "steps": steps, "seed": random_seed})
    for name in names:
        result.checks[name] = check(
            name,
            replicates=replicates,
            steps=steps,
            draws=draws,
            agents=AGENTS.get(name, 0),
            random_seed=random_seed,
            jobs=jobs,
            progressbar=progressbar,
        )
    return result


def holm(p_values: np.ndarray) -> np.ndarray:
    """p-values corrected by Holm's method: with those below a level rejected, any false alarm is as rare as the level.

    That holds however the quantities depend on each other, as beliefs at two times and rho_env do.
    """
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    return corrected


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
