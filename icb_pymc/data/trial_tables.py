"""Tables with one row per trial of a task with two alternatives, such as left and right."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from icb_pymc.data.candidates import Candidates, as_labels, repeated
from icb_pymc.data.cells import Where, first_of
from icb_pymc.data.columns import TRIALS, Columns, Roles
from icb_pymc.data.wide_tables import ALTERNATIVE, choices_of
from icb_pymc.errors import InputError


def from_trials(table: pd.DataFrame, roles: Roles, columns: Columns, where: Where, label: str) -> Candidates:
    """Trials as candidates: the two alternatives of each, of which the second has the features and the first none.

    So a weight above zero speaks for the second alternative (1, or right), as in psychophysics.
    """
    choice, alternatives = choices_of(table, roles, columns)
    if len(alternatives) == 1:
        raise InputError(
            f"{label}: column '{roles.chosen}' holds only '{alternatives[0]}'; say what the two alternatives are "
            "(--alternatives left,right)."
        )
    if len(alternatives) > 2:
        given = columns.alternatives
        count = len(given.values() if isinstance(given, Mapping) else given or ())
        extra = alternatives[2]
        raise InputError(
            f"{where(first_of(choice == extra))}: column '{roles.chosen}' holds '{extra}', but trials are between "
            f"{'the' if count else 'two'} alternatives {alternatives[0]} and {alternatives[1]}; leave the "
            "cell of a missed "
            "trial empty, or for more alternatives give a wide table (price_A, price_B) or a long one."
        )
    if not alternatives:
        raise InputError(f"{label}: column '{roles.chosen}' is empty: say what was chosen in each trial.")
    frame, origin = repeated(table, alternatives)
    name = np.tile(np.array(alternatives), len(table))
    labels = table[roles.decision].to_numpy() if roles.decision else np.arange(1, len(table) + 1)
    features = roles.features
    if not roles.is_listed and roles.formula is None:
        features = [name for name in features if pd.api.types.is_numeric_dtype(table[name])]
    return Candidates(
        frame.assign(**{ALTERNATIVE: name}) if ALTERNATIVE not in frame else frame,
        replace(roles, available=None),
        TRIALS,
        origin,
        as_labels(labels),
        name == choice[origin],
        np.ones(len(frame), bool),
        name,
        alternatives,
        features,
        lambda position: where(int(origin[position])),
    )
