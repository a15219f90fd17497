"""What the columns of a table are: the roles that a user gives them, and the words by which they are known."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from icb_pymc.errors import InputError

LONG, WIDE, TRIALS = "long", "wide", "trials"
FORMS = (LONG, WIDE, TRIALS)

# Names by which columns are found where none is given: ours first, then those of bambi, xlogit, biogeme and R's mlogit.
DECISION_NAMES = ("decision", "choice_id", "obs_id", "case_id")
CHOSEN_NAMES = ("chosen", "choice")
CANDIDATE_NAMES = ("candidate", "alternative", "alt", "alts")
AVAILABLE_NAMES = ("available", "avail", "av")
TIME_NAMES = ("time", "date")
AGENT_NAMES = ("agent", "subject")
SESSION_NAMES, REWARD_NAMES = ("session",), ("reward",)
# The right answer, or whether the choice was right.
CORRECT_NAME = "correct"
ANSWER_NAMES = ("answer", CORRECT_NAME)
# Where alternatives are named, these identify a choice situation; elsewhere they often identify a person.
SITUATION_NAMES = ("chid", "id", "ids")

OPERATOR = re.compile(r"[+*:()^{}`~/|]|\s-\s|^\s*-|^\s*[01]\s*$")

# bambi's response of a choice model: choice(chosen, alternative, choice_id) | available(available).
CHOICE = re.compile(r"\s*choice\(([^,()]+),([^,()]+),([^,()]+)\)\s*(?:\|\s*available\(([^,()]+)\)\s*)?")


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table, and its form.

    A table is *long* (one row per candidate per decision), *wide* (one row per decision, with a column for each
    alternative: ``price_A``, ``price_B``), or has one row per *trial* of a task with two alternatives. The form, and
    columns with the usual names, are recognised; what is not is said here. Recognised are ``decision`` (or
    ``choice_id``, ``obs_id``, ``case_id``), ``chosen`` or ``choice``, ``candidate`` (or ``alternative``, ``alt``),
    ``available`` (``avail``, ``av``), ``time`` (``date``), ``agent`` (``subject``), ``session``, ``reward`` and
    ``answer`` (or ``correct``); a column that is listed in `features` is a feature.

    Parameters
    ----------
    decision : str, optional
        Which decision a row belongs to.
    chosen : str, optional
        In a long table, whether the candidate was chosen: 1 or 0, true or false, yes or no. A decision without any is
        one in which nobody was chosen: it is kept as time that passes.
    time : str, optional
        When the decision was made: whole numbers, or dates like 2002-02-27.
    candidate : str, optional
        Names of the candidates.
    available : str, optional
        Whether the candidate could be chosen; all by default.
    features : sequence of str, or str, optional
        The columns that are features, or a formula such as ``"price + C(brand) + brand:weekend + lag(chosen)"``. By
        default every column without another role that does not only count rows; in a wide table every feature that the
        alternatives have columns for.
        The formula may begin with bambi's ``choice(chosen, alternative, choice_id) | available(available) ~``, which
        names these columns of a long table.
    agent : str, optional
        Name or number of the agent that decided.
    session : str, optional
        The session of a decision; priorities may jump between sessions.
    reward : str, optional
        What the agent received, empty where nobody saw it.
    answer : str, optional
        Which alternative was the right answer, as the column of the choice names them (1 or 0 in a long table); or a
        column ``correct``, 1 where the choice was right and 0 where it was not. It is no feature: `icb plot
        performance` shows it.
    choice : str, optional
        The column that names the chosen alternative, in a table with one row per decision; empty where nobody was
        chosen.
    form : {"long", "wide", "trials"}, optional
        The form of the table, where it is not clear from its columns.
    alternatives : sequence of str, or mapping, optional
        Alternatives of a wide table in order, the first of which is the reference; as a mapping, from the values of the
        column of the choice to the names in the other columns. Of trials, the two answers: weights are those of the
        second.

    Examples
    --------
    >>> import icb_pymc
    >>> import pandas as pd
    >>> table = pd.DataFrame({"offer": [1, 1], "taken": ["no", "yes"], "age": [50, 60], "note": ["a", "b"]})
    >>> columns = icb_pymc.Columns(decision="offer", chosen="taken", features=["age"])
    >>> icb_pymc.from_table(table, columns)["chosen"].values
    array([1])
    """

    decision: str | None = None
    chosen: str | None = None
    time: str | None = None
    candidate: str | None = None
    available: str | None = None
    features: Sequence[str] | str | None = None
    agent: str | None = None
    session: str | None = None
    reward: str | None = None
    answer: str | None = None
    choice: str | None = None
    form: str | None = None
    alternatives: Sequence[str] | Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.form is not None and self.form not in FORMS:
            raise InputError(f"form={self.form!r}: it must be {', '.join(map(repr, FORMS))}.")


@dataclass(frozen=True)
class Roles:
    """The columns of a table by their roles, all of them present, and what is left for features.

    Attributes
    ----------
    formula : the features as a formula, or None if they are a list
    features : the feature columns that are listed, or every column without a role
    is_listed : whether the user listed them
    """

    decision: str | None
    chosen: str
    time: str | None
    candidate: str | None
    available: str | None
    agent: str | None
    session: str | None
    reward: str | None
    answer: str | None
    formula: str | None
    features: list[str]
    is_listed: bool


def with_left_side(columns: Columns) -> Columns:
    """The columns with those that the left side of a formula names: its choice, alternative, decision, availability.

    Examples
    --------
    >>> columns = with_left_side(Columns(features="choice(taken, option, trip) | available(av) ~ price + C(brand)"))
    >>> columns.chosen, columns.candidate, columns.decision, columns.available, columns.features
    ('taken', 'option', 'trip', 'av', 'price + C(brand)')
    """
    if not isinstance(columns.features, str) or not columns.features.lstrip().startswith("choice("):
        return columns
    left, tilde, right = columns.features.partition("~")
    match = CHOICE.fullmatch(left)
    if match is None or not tilde or not right.strip():
        raise InputError(
            f"features: the formula '{columns.features}' cannot be read: write choice(chosen, alternative, choice_id), "
            "if there is a column of availability | available(available), and then ~ and the features."
        )
    roles = zip(("chosen", "candidate", "decision", "available"), match.groups(), strict=True)
    named = {role: name.strip().strip("`") for role, name in roles if name is not None}
    for role, name in named.items():
        if getattr(columns, role) not in (None, name):
            raise InputError(
                f"features: the formula says that column '{name}' is '{role}', but '{getattr(columns, role)}' was "
                "named too; name one."
            )
    return replace(columns, features=right.strip(), **named)


def assign_roles(table: pd.DataFrame, columns: Columns, label: str) -> Roles:
    """Find the columns of a table by name; those that are named must exist, and have one role each."""
    present = [str(name) for name in table.columns]
    repeated = sorted({name for name in present if present.count(name) > 1})
    if repeated:
        raise InputError(f"{label}: column '{repeated[0]}' appears more than once; rename one of them.")
    formula, listed = _features_given(columns.features, present)
    given = [columns.decision, columns.chosen, columns.choice, columns.time, columns.candidate, columns.available]
    given += [columns.agent, columns.session, columns.reward, columns.answer]
    taken = {name for name in given if name is not None} | set(listed or ())

    def find(name: str | None, known: Sequence[str]) -> str | None:
        if name is not None:
            return name
        found = next((word for word in known if word in present and word not in taken), None)
        taken.update([found] if found else [])
        return found

    candidate = find(columns.candidate, CANDIDATE_NAMES)
    decision = find(columns.decision, (*DECISION_NAMES, *(SITUATION_NAMES if candidate else ())))
    chosen = find(columns.choice or columns.chosen, CHOSEN_NAMES)
    others = {
        "time": find(columns.time, TIME_NAMES),
        "available": find(columns.available, AVAILABLE_NAMES),
        "agent": find(columns.agent, AGENT_NAMES),
        "session": find(columns.session, SESSION_NAMES),
        "reward": find(columns.reward, REWARD_NAMES),
        "answer": find(columns.answer, ANSWER_NAMES),
    }
    used = [name for name in (decision, chosen, candidate, *others.values()) if name]
    for name in [*used, *(listed or ())]:
        if name not in present:
            raise InputError(f"{label}: there is no column '{name}'; the columns are {', '.join(present)}.")
    for name in listed or ():
        if name in used:
            raise InputError(
                f"{label}: column '{name}' is listed as a feature but has another role; remove it from one of them."
            )
    if chosen is None:
        raise InputError(
            f"{label}: there is no column 'chosen'; the columns are {', '.join(present)}: name the one that marks the "
            "chosen candidate (--chosen), or in a table with one row per decision the one that names it (--choice)."
        )
    # What is known of the answer by another name is no feature either.
    told = {name for name in ANSWER_NAMES if name not in (columns.agent, columns.session)}
    features = [name for name in present if name not in {*used, *told}] if listed is None else list(listed)
    return Roles(
        decision,
        chosen,
        candidate=candidate,
        formula=formula,
        features=features,
        is_listed=listed is not None,
        **others,
    )


def _features_given(features: Sequence[str] | str | None, present: list[str]) -> tuple[str | None, list[str] | None]:
    """The formula, or the list of columns; the command line gives both as text."""
    if not isinstance(features, str):
        return None, None if features is None else list(features)
    parts = [part.strip() for part in features.split(",")]
    if len(parts) == 1 and (parts[0] in present or parts[0].isidentifier()):
        return f"`{parts[0]}`", None
    if all(part in present for part in parts) or not OPERATOR.search(features):
        return None, parts
    return features, None
