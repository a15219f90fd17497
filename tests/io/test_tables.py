"""Tables are read whatever wrote them, where it is clear what they mean; what is refused is in `tests/corpus`."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icb_pymc.errors import InputWarning
from icb_pymc.io.csv_tables import read_csv
from icb_pymc.io.parquet_tables import read_parquet


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,x\n2,y\n",
        b"a,b\r\n1,x\r\n2,y\r\n",
        b"a,b\r1,x\r2,y\r",
        b"\xef\xbb\xbfa,b\n1,x\n2,y\n",
        b" a , b\n1, x\n2, y",
    ],
    ids=["plain", "Windows", "old Macintosh", "with a mark", "with spaces"],
)
def test_line_ends_marks_and_spaces_do_not_matter(content, tmp_path):
    (tmp_path / "log.csv").write_bytes(content)
    assert read_csv(tmp_path / "log.csv").to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}


def test_a_long_quoted_cell_is_read_whole(tmp_path):
    (tmp_path / "log.csv").write_text(f'a,b\n1,"{"x" * 200_000}"\n')
    assert len(read_csv(tmp_path / "log.csv")["b"].iloc[0]) == 200_000


def test_a_column_without_a_name_such_as_row_numbers_is_left_out_with_a_warning(tmp_path):
    pd.DataFrame({"a": [1, 2]}).to_csv(tmp_path / "log.csv")
    with pytest.warns(InputWarning, match="column number 1 has no name, and is left out"):
        assert list(read_csv(tmp_path / "log.csv")) == ["a"]


def test_indices_of_data_frames_are_columns_if_they_have_names(tmp_path):
    table = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    table.set_index("b").to_parquet(tmp_path / "named.parquet")
    assert read_parquet(tmp_path / "named.parquet").to_dict("list") == {"a": [1.0, 2.0], "b": ["x", "y"]}
    table.iloc[::-1].to_parquet(tmp_path / "unnamed.parquet")
    assert list(read_parquet(tmp_path / "unnamed.parquet")) == ["a", "b"]


def test_moments_of_a_time_zone_that_is_unknown_here_are_read_in_utc(tmp_path):
    moments = pa.array([0, 10**6], pa.timestamp("us", "Mars/Base"))
    pq.write_table(pa.table({"time": moments}), tmp_path / "log.parquet")
    assert read_parquet(tmp_path / "log.parquet")["time"].tolist() == list(
        pd.to_datetime(["1970-01-01 00:00:00", "1970-01-01 00:00:01"], utc=True)
    )


def test_categories_are_their_names(tmp_path):
    pd.DataFrame({"a": pd.Categorical(["x", "y", "x"])}).to_parquet(tmp_path / "log.parquet")
    assert read_parquet(tmp_path / "log.parquet")["a"].tolist() == ["x", "y", "x"]
