"""Read and filter the liver file of the Organ Procurement & Transplantation Network (OPTN)."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from icb_pymc.errors import InputError

FEATURES = (
    "abo_mismatch",
    "age",
    "creatinine",
    "dialysis",
    "inr",
    "life_support",
    "bilirubin",
    "weight_difference",
)
ADULT_AGE = 18

NUMBERS = {
    "age": "AGE",
    "creatinine": "CREAT_TX",
    "inr": "INR_TX",
    "bilirubin": "TBILI_TX",
    "weight": "WGT_KG_CALC",
    "donor_age": "AGE_DON",
    "donor_weight": "WGT_KG_DON_CALC",
}
ALWAYS_POSITIVE = ("creatinine", "inr", "bilirubin", "weight", "donor_weight")
YES_NO = {"dialysis": "DIAL_TX", "life_support": "LIFE_SUP_TRR"}
BLOOD_GROUPS = {"blood_group": "ABO", "donor_blood_group": "ABO_DON"}
DATES = {"listed": "INIT_DATE", "transplanted": "TX_DATE", "status_date": "PX_STAT_DATE"}
IDENTIFIERS = {"patient": "PT_CODE", "donor": "DONOR_ID"}
STATUS = "PX_STAT"
# The codes of synthetic patients begin with this, in memory and on disk.
SYNTHETIC_PREFIX = "SYNTHETIC-"

RAW_COLUMNS = (
    *IDENTIFIERS.values(),
    *BLOOD_GROUPS.values(),
    *NUMBERS.values(),
    *YES_NO.values(),
    *DATES.values(),
    STATUS,
)
FEATURE_SOURCES = {
    "abo_mismatch": "ABO and ABO_DON",
    "weight_difference": "WGT_KG_CALC and WGT_KG_DON_CALC",
    **{feature: column for feature, column in (NUMBERS | YES_NO).items() if feature in FEATURES},
}

# Files exported from SAS have a full stop where nothing was recorded.
UNKNOWN = ("", ".", "U", "UNK", "NA", "NAN")
DATE_FORMATS = ("ISO8601", "%m/%d/%Y", "%d%b%Y")
ABO_GROUP = {"A": "A", "A1": "A", "A2": "A", "B": "B", "O": "O", "AB": "AB", "A1B": "AB", "A2B": "AB"}


@dataclass(frozen=True)
class Preparation:
    """Transplants that passed all filters, and how many rows each filter dropped.

    Attributes
    ----------
    transplants : pd.DataFrame
        One row per transplanted patient. Of the recipient: ``patient``, ``blood_group``, ``age``, ``weight``,
        ``creatinine``, ``inr``, ``bilirubin``, ``dialysis``, ``life_support``; of the donor: ``donor``,
        ``donor_blood_group``, ``donor_age``, ``donor_weight``; of the pair: ``abo_mismatch``,
        ``weight_difference``; dates ``listed`` and ``transplanted`` with the ``waiting_days`` between them;
        ``survival_days``, until death where ``died`` is true and until the last follow-up otherwise.
    report : pd.DataFrame
        Columns ``filter``, ``dropped`` and ``left``, one row per filter in the order applied.
    """

    transplants: pd.DataFrame
    report: pd.DataFrame


def read_raw(path: str | Path) -> pd.DataFrame:
    """Read the columns that `prepare` needs from a CSV file, as text; the index holds the line numbers."""
    try:
        # Free-text columns mix several encodings; the columns that are kept are plain ASCII.
        raw = pd.read_csv(
            path,
            usecols=lambda column: column in RAW_COLUMNS,
            dtype=str,
            index_col=False,
            encoding_errors="replace",
        )
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; give the path of the liver file as CSV.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); give the path of a CSV file.") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        raise InputError(f"{path} is not a CSV file; export the liver file with commas and a header.") from None
    require_columns(raw, RAW_COLUMNS, str(path), "export it as CSV with the column names in line 1")
    raw.index = pd.RangeIndex(2, len(raw) + 2, name="line")
    return raw


def prepare(raw: pd.DataFrame, source: str = "table") -> Preparation:
    """Keep adults who received the liver of an adult, with all eight features known.

    These are the filters of the paper's appendix on its decision environments. Blank cells, unknown codes,
    and weights or laboratory values that are not positive count as missing.

    Parameters
    ----------
    raw : pd.DataFrame
        The liver file under its own column names, from `read_raw` or `liver_cohort.synthesise`.
    source : str
        What to call the data in error messages.
    """
    require_columns(raw, RAW_COLUMNS, source, "add them")
    if raw.empty:
        raise InputError(f"{source} has no rows below its header; give a file with patients in it.")
    patients = _decode(raw, source)
    filters = [
        ("never transplanted", patients["transplanted"].notna(), "TX_DATE"),
        ("recipient under 18", ~(patients["age"] < ADULT_AGE), "AGE"),
        ("donor under 18", ~(patients["donor_age"] < ADULT_AGE), "AGE_DON"),
        ("missing donor_age", patients["donor_age"].notna(), "AGE_DON"),
        *((f"missing {name}", patients[name].notna(), FEATURE_SOURCES[name]) for name in FEATURES),
    ]
    report: list[tuple[str, int, int]] = [("read", 0, len(patients))]
    kept = pd.Series(True, index=patients.index)
    for name, passed, columns in filters:
        dropped = int((kept & ~passed).sum())
        kept &= passed
        report.append((name, dropped, int(kept.sum())))
        if not kept.any():
            raise InputError(
                f"{source}: no transplant is left, because the filter '{name}' dropped the last ones "
                f"({dropped}); check the codes and units in {columns}."
            )

    transplants = patients[kept].copy()
    transplants.attrs["synthetic"] = bool(patients["patient"].astype(str).str.startswith(SYNTHETIC_PREFIX).all())
    return Preparation(transplants, pd.DataFrame(report, columns=["filter", "dropped", "left"]))


def pair_features(recipients: pd.DataFrame, donors: pd.DataFrame) -> pd.DataFrame:
    """Compute the eight features x of donor-recipient pairs, row by row.

    ``abo_mismatch`` is 1 where the blood groups differ once subtypes are folded (A1 and A2 into A, A1B and
    A2B into AB), so a compatible but different group is a mismatch. ``weight_difference`` is the absolute
    difference in kg, so donors that are too large and too small count equally. ``dialysis`` and ``life_support`` are
    0 or 1; the other features are the recipient's own.

    Parameters
    ----------
    recipients, donors : pd.DataFrame
        Rows of `Preparation.transplants`, as many of one as of the other; recipients give their recipient
        columns, donors their donor columns.
    """
    features = recipients.reindex(columns=list(FEATURES)).astype(float)
    recipient_group = recipients["blood_group"].map(ABO_GROUP).reset_index(drop=True)
    donor_group = donors["donor_blood_group"].map(ABO_GROUP).reset_index(drop=True)
    known = recipient_group.notna() & donor_group.notna()
    features["abo_mismatch"] = (recipient_group != donor_group).astype(float).where(known).to_numpy()
    features["weight_difference"] = abs(recipients["weight"].to_numpy() - donors["donor_weight"].to_numpy())
    return features


def require_columns(table: pd.DataFrame, columns: Iterable[str], source: str, remedy: str) -> None:
    """Raise an `InputError` that names all columns missing from a table."""
    missing = [column for column in columns if column not in table]
    if missing:
        raise InputError(f"{source} lacks the columns {', '.join(missing)}; {remedy}.")


def _decode(raw: pd.DataFrame, source: str) -> pd.DataFrame:
    patients = pd.DataFrame({name: _codes(raw[column]) for name, column in IDENTIFIERS.items()})
    for name, column in BLOOD_GROUPS.items():
        codes = _codes(raw[column])
        patients[name] = codes.where(codes.isin(list(ABO_GROUP)))
    for name, column in NUMBERS.items():
        numbers = _numbers(raw[column], source)
        patients[name] = numbers.where(numbers > 0) if name in ALWAYS_POSITIVE else numbers
    for name, column in YES_NO.items():
        patients[name] = _codes(raw[column]).map({"Y": 1.0, "N": 0.0}).astype(float)
    for name, column in DATES.items():
        patients[name] = _dates(raw[column], source)

    paired = pair_features(patients, patients)
    patients["abo_mismatch"] = paired["abo_mismatch"]
    patients["weight_difference"] = paired["weight_difference"]
    patients["waiting_days"] = _days_between(patients["listed"], patients["transplanted"])
    patients["survival_days"] = _days_between(patients["transplanted"], patients["status_date"])
    patients["died"] = (_codes(raw[STATUS]) == "D").fillna(False).astype(bool)
    return patients.drop(columns="status_date")


def _codes(column: pd.Series) -> pd.Series:
    text = column.astype("string").str.strip().str.upper()
    return text.mask(text.isin(UNKNOWN))


def _numbers(column: pd.Series, source: str) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    known = _codes(column)
    numbers = pd.to_numeric(known, errors="coerce").astype(float)
    _refuse_unreadable(column, known.notna() & numbers.isna(), source, "a number")
    return numbers


def _dates(column: pd.Series, source: str) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    known = _codes(column)
    dates = pd.to_datetime(known, format=DATE_FORMATS[0], errors="coerce")
    for date_format in DATE_FORMATS[1:]:
        dates = dates.fillna(pd.to_datetime(known, format=date_format, errors="coerce"))
    _refuse_unreadable(column, known.notna() & dates.isna(), source, "a date such as 2020-12-04 or 12/04/2020")
    return dates


def _refuse_unreadable(column: pd.Series, unreadable: pd.Series, source: str, expected: str) -> None:
    if unreadable.any():
        first = int(unreadable.to_numpy(dtype=bool).argmax())
        raise InputError(
            f"{source}, row {column.index[first]}, column {column.name}: '{column.iloc[first]}' is not "
            f"{expected}; correct it or leave it blank."
        )


def _days_between(start: pd.Series, end: pd.Series) -> pd.Series:
    days = (end - start).dt.days.astype(float)
    # Dates in the wrong order are data-entry errors: the duration is then unknown.
    return days.where(days >= 0)
