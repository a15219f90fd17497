"""Decisions from and to long tables, in memory and in files."""

import io

import numpy as np
import pandas as pd
import pymc as pm
import pytest

import icb_pymc
from icb_pymc import from_arrays, write_trace
from icb_pymc.cli import main
from icb_pymc.data.columns import Columns
from icb_pymc.data.decision_files import read_decisions, write_decisions
from icb_pymc.data.tables import from_table, to_table
from icb_pymc.errors import InputError, InputWarning

GOOD = """decision,time,candidate,chosen,age,inr
a,2001-01-01,p,1,50,1.5
a,2001-01-01,q,0,60,1.0
b,2001-03-01,p,0,51,2.5
b,2001-03-01,r,0,40,1.1
b,2001-03-01,s,1,45,1.3
"""

# A replacement in the good table, and what the error must contain: the line and the column (or decision).
BROKEN = {
    "missing feature": (("50,1.5", "50,"), ["line 2", "'inr'", "missing"]),
    "infinite feature": (("50,1.5", "inf,1.5"), ["line 2", "'age'", "infinite"]),
    "no chosen candidate in any decision": (
        (GOOD.partition("\n")[2], "a,2001-01-01,p,0,50,1.5\na,2001-01-01,q,0,60,1.0\n"),
        ["no decision", "'chosen'"],
    ),
    "non-numeric feature": (("60,1.0", "sixty,1.0"), ["line 3", "'age'", "'sixty'"]),
    "times out of order": (("2001-03-01", "2000-03-01"), ["line 4", "'time'", "out of order"]),
    "two times in one decision": (("2001-03-01,r", "2001-03-02,r"), ["line 5", "'time'", "differs"]),
    "not a date": (("2001-01-01", "soon"), ["line 2", "'time'", "'soon'"]),
    "chosen is neither yes nor no": (("p,1", "p,maybe"), ["line 2", "'chosen'", "'maybe'"]),
    "duplicated candidate": (
        ("b,2001-03-01,r", "b,2001-03-01,p"),
        ["line 5", "'candidate'", "appears twice"],
    ),
    "more than one chosen": (("q,0", "q,1"), ["'a'", "2 chosen", "'chosen'"]),
    "empty table": ((GOOD.partition("\n")[2], ""), ["no rows"]),
    "empty file": ((GOOD, ""), ["no rows"]),
    "missing decision id": (("b,2001-03-01,r", ",2001-03-01,r"), ["line 5", "'decision'", "empty"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_csv_is_reported_in_one_sentence_with_exit_code_2(case, tmp_path, capsys):
    (old, new), words = BROKEN[case]
    path = tmp_path / "log.csv"
    path.write_text(GOOD.replace(old, new))
    assert main(["show", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    for word in (str(path), *words):
        assert word in printed.err


def test_a_chosen_candidate_that_was_unavailable_is_named(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("decision,chosen,available,age\n1,1,0,50\n1,0,1,60\n")
    assert main(["show", str(path)]) == 2
    assert "line 2: the candidate is chosen but unavailable" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--features=age,height", "--decision=offer", "--time=when"])
def test_an_unknown_column_is_named_with_the_known_ones(option, tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text(GOOD)
    assert main(["show", str(path), option]) == 2
    printed = capsys.readouterr().err
    assert f"no column '{option.rpartition(',')[2].rpartition('=')[2]}'" in printed
    assert "decision, time, candidate, chosen, age, inr" in printed


def test_a_single_candidate_and_a_constant_feature_are_kept_with_a_warning(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("decision,chosen,age,site\n1,1,50,3\n2,1,60,3\n2,0,70,3\n")
    assert main(["show", str(path)]) == 0
    printed = capsys.readouterr().err
    assert "have a single candidate" in printed
    assert "'site' never varies" in printed


def test_action_sets_of_different_size_are_padded_and_dates_kept(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(GOOD)
    decisions = read_decisions(path)
    assert decisions["available"].values.tolist() == [[True, True, False], [True, True, True]]
    assert decisions["chosen"].values.tolist() == [0, 2]
    assert decisions["decision"].values.tolist() == ["a", "b"]
    assert decisions["time"].values[1] == np.datetime64("2001-03-01")
    assert decisions["context"].sel(feature="inr").values[1].tolist() == [2.5, 1.1, 1.3]


@pytest.mark.parametrize("suffix", [".nc", ".csv", ".parquet"])
def test_decisions_survive_a_round_trip_through_every_file_format(suffix, tmp_path):
    source, path = tmp_path / "log.csv", tmp_path / f"copy{suffix}"
    source.write_text(GOOD)
    decisions = read_decisions(source)
    write_decisions(decisions, path)
    copy = read_decisions(path)
    for name in ("context", "available", "chosen", "candidate", "decision", "time", "feature"):
        np.testing.assert_array_equal(copy[name].values, decisions[name].values)
    assert copy["available"].dtype == bool


def test_columns_may_have_other_names_and_rows_of_a_decision_need_not_be_adjacent():
    table = pd.DataFrame(
        {
            "offer": [7, 8, 7, 8],
            "taken": [True, False, False, True],
            "age": [1.0, 2.0, 3.0, 4.0],
            "note": list("abcd"),
        }
    )
    decisions = from_table(table, Columns(decision="offer", chosen="taken", features=["age"]))
    assert decisions["context"].values[:, :, 0].tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert decisions["chosen"].values.tolist() == [0, 1]


def test_an_error_in_a_data_frame_names_the_row_by_its_index():
    table = pd.DataFrame({"decision": [1, 1], "chosen": [1, 0], "age": [1.0, np.nan]}, index=["x", "y"])
    with pytest.raises(ValueError, match="row y: feature column 'age' is missing"):
        from_table(table)


def test_simulated_decisions_survive_the_way_to_a_table_and_back(arrivals):
    slots = np.argmax(arrivals["available"].values, axis=1)
    with pytest.warns(InputWarning, match="single candidate"):
        decisions = from_table(to_table(arrivals.assign(chosen=("time", slots))))
    assert decisions.sizes["time"] == arrivals.sizes["time"]
    np.testing.assert_array_equal(decisions["available"].sum("action"), arrivals["available"].sum("action"))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("log.txt", "x", "end in .nc, .csv, .parquet"),
        ("log.nc", "not netcdf", "is not a netCDF4 file"),
        ("log.parquet", "not parquet", "cannot be read as a table"),
        ("log.csv", 'a,b\n1,2\n3,4,5\n"', "cannot be read as a table"),
    ],
)
def test_a_file_that_does_not_match_its_suffix_is_refused(name, content, sentence, tmp_path, capsys):
    path = tmp_path / name
    path.write_text(content)
    assert main(["show", str(path)]) == 2
    assert sentence in capsys.readouterr().err


def test_a_missing_file_is_named(capsys):
    assert main(["show", "nowhere.csv"]) == 2
    assert "nowhere.csv: there is no such file" in capsys.readouterr().err


def test_spaces_after_commas_and_a_byte_order_mark_are_ignored(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes("\ufeffdecision, chosen, age \n1, 1, 3\n1, 0, 4\n".encode())
    assert read_decisions(path)["context"].values.ravel().tolist() == [3.0, 4.0]


def test_two_columns_with_one_name_are_refused(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("decision,chosen,age,age\n1,1,3,4\n1,0,4,5\n")
    assert main(["show", str(path)]) == 2
    assert "column 'age' appears more than once" in capsys.readouterr().err


def test_columns_named_by_numbers_are_features_but_dates_are_not():
    table = pd.DataFrame(np.arange(4.0).reshape(2, 2)).assign(decision=[1, 1], chosen=[1, 0])
    assert from_table(table)["feature"].values.tolist() == ["0", "1"]
    with pytest.raises(ValueError, match="'seen' holds dates"):
        from_table(table.assign(seen=pd.to_datetime(["2001-01-01", "2001-01-02"])))


def test_times_with_several_offsets_are_converted_to_utc():
    table = pd.DataFrame({"decision": [1, 1], "chosen": [1, 0], "age": [1.0, 2.0]})
    table["time"] = ["2001-03-25T10:00:00+02:00", "2001-03-25T09:00:00+01:00"]
    assert from_table(table)["time"].values[0] == np.datetime64("2001-03-25T08:00:00")


@pytest.mark.parametrize("time", [np.inf, 1.5])
def test_times_that_are_not_whole_numbers_are_refused(time):
    table = pd.DataFrame({"decision": [1, 1, 2, 2], "chosen": [1, 0, 1, 0], "age": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(InputError, match=f"row 2: column 'time' holds {time}; times are whole numbers or dates"):
        from_table(table.assign(time=[1, 1, time, time]))


@pytest.mark.parametrize(
    "names",
    [
        {"decision": "choice_id", "candidate": "alternative"},
        {"decision": "id", "chosen": "choice", "candidate": "alt", "available": "avail"},
        {"decision": "chid", "chosen": "choice", "candidate": "alt", "available": "av"},
        {"decision": "obs_id", "chosen": "CHOICE", "candidate": "alts", "time": "date", "agent": "subject"},
    ],
)
def test_long_tables_with_the_words_of_other_packages_are_read_as_they_are(names):
    table = pd.read_csv(io.StringIO(GOOD)).assign(available=[1, 1, 1, 0, 1], agent="p")
    columns = Columns(chosen="CHOICE") if names.get("chosen") == "CHOICE" else None
    read = from_table(table.rename(columns=names), columns)
    expected = from_table(table)
    for name in ("context", "chosen", "available", "candidate", "time", "feature", "agent", "decider"):
        np.testing.assert_array_equal(read[name], expected[name])


def test_a_decision_in_which_nobody_was_chosen_is_missed_with_a_warning():
    table = pd.read_csv(io.StringIO(GOOD.replace("p,1", "p,0")))
    with pytest.warns(
        InputWarning, match="1 decision.s. have no chosen candidate in column 'chosen' .the first is 'a'."
    ):
        decisions = from_table(table)
    assert decisions["missed"].values.tolist() == [True, False]
    assert decisions["chosen"].values.tolist() == [0, 2]
    np.testing.assert_array_equal(decisions["context"].values[0], 0)


def test_a_missed_decision_has_a_likelihood_of_one_and_teaches_nothing():
    rng = np.random.default_rng(0)
    context, chosen = rng.normal(size=(6, 2, 1)), rng.integers(0, 2, 6)
    missed = np.arange(6) == 3
    decisions = from_arrays(context, chosen, missed=missed)
    model = icb_pymc.models.nb_icb(decisions, total_movement=1.0, start_scale=1.0)
    likelihood = model.compile_fn(model.logp(model.observed_RVs, sum=False))(
        model.initial_point() | {"belief": context[:, 0]}
    )
    assert likelihood[0][3] == 0
    assert (likelihood[0][~missed] < 0).all()
    # What a Bayesian learner believes after it is what it believed before.
    belief = pm.draw(icb_pymc.models.b_icb(decisions)["belief"], random_seed=0)
    np.testing.assert_array_equal(belief[4], belief[3])
    assert (belief[3] != belief[2]).all()


def test_new_tables_are_converted_like_the_decisions_that_a_trace_was_fitted_to(trace, tmp_path, capsys):
    first, later = tmp_path / "first.csv", tmp_path / "later.csv"
    first.write_text(
        GOOD.replace("age", "age,brand")
        .replace("50,", "50,x,")
        .replace("60,", "60,y,")
        .replace("51,", "51,z,")
        .replace("40,", "40,x,")
        .replace("45,", "45,y,")
    )
    later.write_text("decision,candidate,chosen,age,brand,inr\nc,p,1,50,x,1.5\nc,q,0,60,y,1.0\n")
    given = ["--features", "age + C(brand) + inr"]
    assert main(["convert", str(first), *given, "--standardise", "-o", str(tmp_path / "first.nc")]) == 0
    like = ["--like", str(tmp_path / "first.nc")]
    assert main(["convert", str(later), *like, "-o", str(tmp_path / "later.nc")]) == 0
    one, other = read_decisions(tmp_path / "first.nc"), read_decisions(tmp_path / "later.nc")
    assert other["feature"].values.tolist() == ["age", "brand[y]", "brand[z]", "inr"]
    np.testing.assert_allclose(other["context"].values[0], one["context"].values[0, :2])
    write_trace(trace, tmp_path / "trace.nc")
    capsys.readouterr()
    assert main(["convert", str(later), "--like", str(tmp_path / "trace.nc"), "-o", str(tmp_path / "x.nc")]) == 2
    assert "there is no column 'feature_0'" in capsys.readouterr().err
    assert main(["convert", str(later), "--like", str(later), "-o", str(tmp_path / "x.nc")]) == 2
    assert "--like" in capsys.readouterr().err


def test_a_table_read_like_another_has_its_features_in_the_same_order():
    rows = pd.DataFrame({"decision": [1, 1], "chosen": [1, 0], "price": [1.0, 2.0], "age": [3.0, 5.0]})
    first = from_table(rows)
    later = from_table(rows[["decision", "chosen", "age", "price"]], like=first)
    assert first["feature"].values.tolist() == later["feature"].values.tolist() == ["price", "age"]
    assert np.array_equal(first["context"].values, later["context"].values)
