"""The preparation of the liver file keeps the right rows and reports what it dropped."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from icb_pymc.environments.liver_cohort import synthesise
from icb_pymc.environments.optn import FEATURES, pair_features, prepare, read_raw
from icb_pymc.errors import InputError

GOOD_ROW = {
    "PT_CODE": "p1",
    "DONOR_ID": "d1",
    "ABO": "A1",
    "ABO_DON": "A2",
    "AGE": 50,
    "AGE_DON": 40,
    "CREAT_TX": 1.5,
    "DIAL_TX": "Y",
    "INR_TX": 2.0,
    "LIFE_SUP_TRR": "N",
    "TBILI_TX": 3.0,
    "WGT_KG_CALC": 70,
    "WGT_KG_DON_CALC": 85.5,
    "INIT_DATE": "2005-01-01",
    "TX_DATE": "2005-01-31",
    "PX_STAT": "D",
    "PX_STAT_DATE": "2006-01-31",
}


def rows(*changes: dict[str, object]) -> pd.DataFrame:
    """A raw table with a good row, followed by rows with the given changes."""
    return pd.DataFrame([GOOD_ROW, *(GOOD_ROW | change for change in changes)], dtype=object)


def dropped(report: pd.DataFrame) -> dict[str, int]:
    counts = report.set_index("filter")["dropped"]
    return {str(name): int(count) for name, count in counts.items() if count}


def test_a_good_row_is_decoded() -> None:
    row = prepare(rows()).transplants.iloc[0]
    assert row[list(FEATURES)].to_dict() == {
        "abo_mismatch": 0.0,
        "age": 50.0,
        "creatinine": 1.5,
        "dialysis": 1.0,
        "inr": 2.0,
        "life_support": 0.0,
        "bilirubin": 3.0,
        "weight_difference": 15.5,
    }
    assert (row["patient"], row["donor"]) == ("P1", "D1")
    assert (row["waiting_days"], row["survival_days"], row["died"]) == (30.0, 365.0, True)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"TX_DATE": None}, "never transplanted"),
        ({"AGE": 17}, "recipient under 18"),
        ({"AGE_DON": 17.9}, "donor under 18"),
        ({"AGE_DON": ""}, "missing donor_age"),
        ({"AGE": "."}, "missing age"),
        ({"ABO": "U"}, "missing abo_mismatch"),
        ({"ABO_DON": np.nan}, "missing abo_mismatch"),
        ({"CREAT_TX": ""}, "missing creatinine"),
        ({"CREAT_TX": 0}, "missing creatinine"),
        ({"DIAL_TX": " "}, "missing dialysis"),
        ({"DIAL_TX": "A"}, "missing dialysis"),
        ({"INR_TX": "U"}, "missing inr"),
        ({"LIFE_SUP_TRR": "u"}, "missing life_support"),
        ({"TBILI_TX": None}, "missing bilirubin"),
        ({"WGT_KG_DON_CALC": 0}, "missing weight_difference"),
    ],
)
def test_each_filter_drops_its_row_and_no_other(change: dict[str, object], name: str) -> None:
    prepared = prepare(rows(change))
    assert dropped(prepared.report) == {name: 1}
    assert len(prepared.transplants) == 1


def test_patients_of_exactly_eighteen_are_kept() -> None:
    assert len(prepare(rows({"AGE": 18, "AGE_DON": 18})).transplants) == 2


def test_the_report_adds_up() -> None:
    raw = synthesise(1_000, seed=2)
    prepared = prepare(raw)
    report = prepared.report
    assert report["filter"].iloc[0] == "read"
    assert report["left"].iloc[0] == len(raw)
    np.testing.assert_array_equal(
        report["left"].to_numpy()[1:], report["left"].iloc[0] - report["dropped"].cumsum()[1:]
    )
    assert report["left"].iloc[-1] == len(prepared.transplants) > 0
    assert prepared.transplants[list(FEATURES)].notna().all(axis=None)
    assert prepared.transplants.attrs["synthetic"] is True


def test_real_data_are_not_marked_as_synthetic() -> None:
    assert prepare(rows()).transplants.attrs["synthetic"] is False


def test_living_patients_are_censored() -> None:
    transplants = prepare(rows({"PX_STAT": "A"}, {"PX_STAT": None})).transplants
    assert transplants["died"].tolist() == [True, False, False]


def test_dates_in_the_wrong_order_leave_durations_unknown() -> None:
    transplants = prepare(rows({"INIT_DATE": "2005-02-01", "PX_STAT_DATE": "2005-01-30"})).transplants
    assert np.isnan(transplants[["waiting_days", "survival_days"]].iloc[1]).all()


@pytest.mark.parametrize("date", ["01/31/2005", "31JAN2005", "2005-01-31 00:00:00"])
def test_dates_are_read_in_the_formats_of_registries(date: str) -> None:
    assert prepare(rows({"TX_DATE": date})).transplants["waiting_days"].tolist() == [30.0, 30.0]


def test_pair_features_fold_subtypes_and_take_absolute_differences() -> None:
    recipients = pd.DataFrame(
        {
            "blood_group": ["A", "A1", "AB", "O", "A"],
            "weight": [70.0, 70.0, 70.0, 70.0, 70.0],
            "age": [20.0, 30.0, 40.0, 50.0, 60.0],
        },
        index=[7, 7, 8, 9, 10],
    )
    donors = pd.DataFrame(
        {
            "donor_blood_group": ["A2", "A2", "A2B", "A2", "A1B"],
            "donor_weight": [60.0, 80.0, 70.0, 0.5, 100.0],
        }
    )
    features = pair_features(recipients, donors)
    assert tuple(features) == FEATURES
    assert features["abo_mismatch"].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert features["weight_difference"].tolist() == [10.0, 10.0, 0.0, 69.5, 30.0]
    assert features["age"].tolist() == [20.0, 30.0, 40.0, 50.0, 60.0]


def test_a_file_gives_the_same_as_the_table(tmp_path: Path) -> None:
    raw = synthesise(500, seed=5)
    path = tmp_path / "liver.csv"
    raw.to_csv(path, index=False)
    read = read_raw(path)
    assert "GENDER" not in read
    from_file, from_table = prepare(read, str(path)), prepare(raw)
    pd.testing.assert_frame_equal(from_file.report, from_table.report)
    pd.testing.assert_frame_equal(
        from_file.transplants.reset_index(drop=True),
        from_table.transplants.reset_index(drop=True),
        check_dtype=False,
    )


def test_text_in_a_numeric_column_is_named_with_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "liver.csv"
    rows({"PT_CODE": "p2"}, {"INR_TX": "high"}).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"liver\.csv, row 4, column INR_TX: 'high' is not a number"):
        prepare(read_raw(path), str(path))


def test_text_in_a_date_column_is_named() -> None:
    with pytest.raises(InputError, match="table, row 1, column TX_DATE: 'soon' is not a date"):
        prepare(rows({"TX_DATE": "soon"}))


def test_all_missing_columns_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "liver.csv"
    incomplete = rows().drop(columns=["INR_TX", "ABO_DON"])
    incomplete.to_csv(path, index=False)
    with pytest.raises(InputError, match=r"liver\.csv lacks the columns ABO_DON, INR_TX;"):
        read_raw(path)
    with pytest.raises(InputError, match="table lacks the columns ABO_DON, INR_TX;"):
        prepare(incomplete)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv does not exist"):
        read_raw(tmp_path / "nowhere.csv")


@pytest.mark.parametrize("content", [b"", b'a,b\n1,2\n3,4,5,6\n"', b"PK\x03\x04\x00\xff\xfe\x00\n\x00,\x00"])
def test_files_that_are_not_csv_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "liver.xlsx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"liver\.xlsx"):
        read_raw(path)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_raw(tmp_path)


def test_when_nothing_is_left_the_last_filter_is_named() -> None:
    raw = rows({"TX_DATE": None}, {"INR_TX": None}).iloc[1:]
    with pytest.raises(InputError, match=r"'missing inr' dropped the last ones \(1\); check .* INR_TX"):
        prepare(raw)
    with pytest.raises(InputError, match="has no rows"):
        prepare(raw.iloc[:0])
