"""The semi-synthetic environment: organs and patients of a cohort, matched by simulated agents."""

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.environments.arrivals import Standardisation, default_transplants, draw_arrivals
from icb_pymc.environments.optn import FEATURES, pair_features, require_columns
from icb_pymc.errors import InputError

SQUARED_FEATURES = ("age", "inr", "weight_difference")

NEEDED_COLUMNS = (
    "blood_group",
    "donor_blood_group",
    "weight",
    "donor_weight",
    "age",
    "creatinine",
    "dialysis",
    "inr",
    "life_support",
    "bilirubin",
    "survival_days",
    "died",
)


def semi_synthetic(
    steps: int = 500,
    actions: int = 2,
    seed: int = 0,
    transplants: pd.DataFrame | None = None,
    quadratic: bool = False,
) -> xr.Dataset:
    """Draw arrivals of organs with candidates, and fit the reward parameter rho_env to survival.

    Parameters
    ----------
    steps : int
        Number of arrivals T.
    actions : int
        Number of candidates per arrival.
    seed : int
        The same seed gives the same arrivals.
    transplants : pd.DataFrame, optional
        Transplants from `optn.prepare`; by default those of the synthetic cohort.
    quadratic : bool
        Let rewards depend on the squares of age, INR and weight difference. ``context``, which the algorithms
        see, does not change; ``reward_context`` is added: the standardised features that the agent weighs,
        whose squares may exceed five standard deviations.

    Returns
    -------
    xr.Dataset
        ``context`` (time, action, feature) in standard deviations, ``available`` (time, action),
        ``true_rho_env`` (feature) with unit L1 norm; ``feature_mean`` and ``feature_scale`` (feature) convert
        back to the units of the file.
    """
    cohort = default_transplants() if transplants is None else transplants
    rho_env = reward_parameter(cohort, quadratic)
    arrivals = draw_arrivals(cohort, pair_features, steps, actions, seed)
    arrivals["true_rho_env"] = rho_env
    if quadratic:
        arrivals["reward_context"] = _reward_context(arrivals, pair_features(cohort, cohort))
    return arrivals.assign_attrs(environment="semi-synthetic", quadratic=int(quadratic))


def reward_parameter(transplants: pd.DataFrame, quadratic: bool = False) -> xr.DataArray:
    """Fit rho_env: least squares of survival time on the standardised features, scaled to unit L1 norm.

    Only patients who died are used, because only their survival is known in full, and of those only the ones
    with every feature within five standard deviations.
    """
    require_columns(transplants, NEEDED_COLUMNS, "transplants", "take them from `prepare`")
    matched = pair_features(transplants, transplants)
    known = transplants["died"].to_numpy(dtype=bool) & transplants["survival_days"].notna().to_numpy()
    used = known & Standardisation.of(matched).within_limit(matched)
    if used.sum() <= len(FEATURES):
        raise InputError(
            f"transplants: {used.sum()} patients with a known death are too few to fit the weights of "
            f"{len(FEATURES)} features; give more transplants."
        )
    weighed = _with_squares(matched) if quadratic else matched
    z = Standardisation.of(weighed).z(weighed)[used]
    design = np.column_stack([np.ones(len(z)), z])
    weights = np.linalg.lstsq(design, transplants["survival_days"].to_numpy()[used])[0][1:]
    return xr.DataArray(weights / abs(weights).sum(), coords={"feature": np.array(FEATURES)}, dims="feature")


def _with_squares(features: pd.DataFrame) -> pd.DataFrame:
    return features.assign(**{feature: features[feature] ** 2 for feature in SQUARED_FEATURES})


def _reward_context(arrivals: xr.Dataset, matched: pd.DataFrame) -> xr.DataArray:
    standardisation = Standardisation.of(_with_squares(matched))
    reward_context = arrivals["context"].copy()
    for feature in SQUARED_FEATURES:
        at = {"feature": feature}
        values = arrivals["context"].loc[at] * arrivals["feature_scale"].loc[at] + arrivals["feature_mean"].loc[at]
        reward_context.loc[at] = (values**2 - standardisation.mean[feature]) / standardisation.scale[feature]
    return reward_context
