"""Bad tables: files that are no CSV or Parquet, cells that cannot be meant, and options that do not fit the table."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from corpus.kinds import Kind, file_of, free

HEADER = "decision,time,candidate,chosen,age,inr\n"
ROWS = ["1,1,a,1,50,1.5", "1,1,b,0,60,1.0", "2,2,a,0,51,2.5", "2,2,b,1,40,1.1", "3,3,a,1,45,1.3", "3,3,b,0,42,2.0"]
GOOD = HEADER + "\n".join(ROWS) + "\n"
NO_ROWS = "has no rows"


def changed(row: int, old: str, new: str) -> str:
    """The good table with one cell changed in the row that is counted from zero."""
    rows = list(ROWS)
    assert old in rows[row]
    rows[row] = rows[row].replace(old, new, 1)
    return HEADER + "\n".join(rows) + "\n"


def column(name: str, values: Sequence[Any]) -> str:
    """The good table with another column."""
    cells = "\n".join(f"{row},{value}" for row, value in zip(ROWS, values, strict=True))
    return f"{HEADER.strip()},{name}\n{cells}\n"


# Name, content, words, and options of the command if there are any.
FILES: list[tuple[Any, ...]] = [
    ("empty", b"", [NO_ROWS]),
    ("one newline", b"\n", []),
    ("only spaces", b"   \n  \n", []),
    ("only a byte order mark", b"\xef\xbb\xbf", [NO_ROWS]),
    ("only NUL bytes", b"\0" * 64, []),
    ("header without rows", HEADER, [NO_ROWS]),
    ("header twice", HEADER + GOOD, ["line 2"]),
    ("no header", "\n".join(ROWS), []),
    ("a NUL byte in a number", changed(1, "60", "6\x000"), ["line 3", "NUL"]),
    ("a NUL byte in the header", GOOD.replace("inr", "i\0nr", 1), ["line 1", "NUL"]),
    ("latin-1", changed(1, ",b,", ",é,").encode("latin-1"), ["UTF-8", "line 3"]),
    ("latin-1 in the header", GOOD.replace("inr", "é").encode("latin-1"), ["UTF-8", "line 1"]),
    ("UTF-16 with mark", GOOD.encode("utf-16"), ["UTF-16"]),
    ("UTF-16 without mark", GOOD.encode("utf-16-le"), ["UTF-16"]),
    ("UTF-32", GOOD.encode("utf-32"), ["UTF-32"]),
    ("gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc", ["gzip"]),
    ("zip, as of a spreadsheet", b"PK\x03\x04" + b"\0" * 60, ["spreadsheet"]),
    ("an old spreadsheet", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 60, ["spreadsheet"]),
    ("PDF", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", ["PDF"]),
    ("PNG", b"\x89PNG\r\n\x1a\n" + b"\0" * 30, []),
    ("netCDF named .csv", b"\x89HDF\r\n\x1a\n" + b"\0" * 30, ["netCDF", ".nc"]),
    ("Parquet named .csv", b"PAR1" + b"\0" * 30 + b"PAR1", ["Parquet", ".parquet"]),
    ("JSON", '{"decision": [1, 2]}', []),
    ("a page", "<!DOCTYPE html>\n<html><body>Not found</body></html>\n", ["page"]),
    ("binary noise", bytes(range(256)) * 8, []),
    (
        "a quoted field over 128 KB",
        changed(0, ",a,", ',"' + "x" * 200_000 + '",').replace(",50,", ",x,", 1),
        ["line 2"],
    ),
    ("a header over 128 KB", GOOD.replace("inr", '"' + "x" * 200_000 + '"', 1).replace("2.0", "", 1), ["line 7"]),
    ("a quote that never ends", changed(0, "50", '"50'), ["quot"]),
    ("too many cells in a row", changed(3, "1.1", "1.1,7,8"), ["line 5"]),
    ("a cell more in every row", GOOD.replace(",inr", "", 1), ["line 2", "more cells"]),
    ("two cells more in every row", GOOD.replace(",age,inr", "", 1), ["line 2", "more cells"]),
    ("a comma at the end of every row", HEADER + "".join(f"{row},\n" for row in ROWS), ["line 2", "ends of rows"]),
    ("semicolons", GOOD.replace(",", ";"), ["semicolon"]),
    ("tabs", GOOD.replace(",", "\t"), ["tab"]),
    ("a column twice", GOOD.replace("inr", "age", 1), ["'age'", "more than once"]),
    ("a column twice but for spaces", GOOD.replace("inr", " age ", 1), ["'age'", "more than once"]),
    ("a blank line", HEADER + ROWS[0] + "\n\n" + "\n".join(ROWS[1:]), ["line 3"]),
    ("a line of commas", HEADER + ROWS[0] + "\n,,,,,\n" + "\n".join(ROWS[1:]), ["line 3"]),
    ("old Macintosh line ends and a bad cell", changed(3, "1.1", "x").replace("\n", "\r"), ["line 5", "'inr'"]),
    ("Windows line ends and a bad cell", changed(3, "1.1", "x").replace("\n", "\r\n"), ["line 5", "'inr'"]),
    ("a mark and a bad cell", b"\xef\xbb\xbf" + changed(3, "1.1", "x").encode(), ["line 5", "'inr'"]),
    ("a line break in a quoted cell, then a bad one", changed(0, ",a,", ',"a\nb",').replace("1.1", "x"), ["'inr'"]),
    ("control characters in a cell", changed(3, "1.1", "\x1b[31mred"), ["line 5", "'inr'"]),
    ("text of right to left in a cell", changed(3, "1.1", "\u202e1.1"), ["line 5", "'inr'"]),
    ("an escape in a column name", GOOD.replace("inr", "\x1b]0;title\x07", 1).replace("1.1", "x"), ["line 5"]),
    # Columns.
    ("no column of decisions", GOOD.replace("decision", "nothing", 1), []),
    ("no column of choices", GOOD.replace("chosen", "nothing", 1), ["chosen"]),
    ("no feature", "decision,time,candidate,chosen\n1,1,a,1\n1,1,b,0\n", ["feature"]),
    ("a single column", "decision\n1\n2\n", []),
    ("wide without alternatives", "choice,age\nbus,1\ncar,2\nbus,3\ntram,1\n", []),
    ("--decision names no column", GOOD, ["'nothing'"], ["--decision", "nothing"]),
    ("--chosen names no column", GOOD, ["'nothing'"], ["--chosen", "nothing"]),
    ("--time names no column", GOOD, ["'nothing'"], ["--time", "nothing"]),
    ("--candidate names no column", GOOD, ["'nothing'"], ["--candidate", "nothing"]),
    ("--available names no column", GOOD, ["'nothing'"], ["--available", "nothing"]),
    ("--agent names no column", GOOD, ["'nothing'"], ["--agent", "nothing"]),
    ("--session names no column", GOOD, ["'nothing'"], ["--session", "nothing"]),
    ("--reward names no column", GOOD, ["'nothing'"], ["--reward", "nothing"]),
    ("--choice names no column", GOOD, ["'nothing'"], ["--choice", "nothing"]),
    ("--features names no column", GOOD, ["'nothing'"], ["--features", "age,nothing"]),
    ("--features empty", GOOD, ["column ''"], ["--features", ""]),
    ("--features of commas", GOOD, ["column ''"], ["--features", ",,"]),
    ("--features twice the same", GOOD, ["twice", "age"], ["--features", "age,age"]),
    ("--features of the choice itself", GOOD, ["chosen"], ["--features", "age,chosen"]),
    ("--features that do not parse", GOOD, ["features"], ["--features", "age + ("]),
    ("--features call a function", GOOD, ["system"], ["--features", "age + system('true')"]),
    ("--features reach into Python", GOOD, [], ["--features", "age + age.__class__"]),
    ("--features import a module", GOOD, [], ["--features", "__import__('os')"]),
    ("--features of a thousand parentheses", GOOD, [], ["--features", "(" * 1000 + "age" + ")" * 1000]),
    ("--features power of a power", GOOD, ["terms"], ["--features", "(age + inr) ** 9999999"]),
    ("--features product of many sums", GOOD, ["terms"], ["--features", "*".join(["(age + inr + time)"] * 90)]),
    ("--features logarithm of nothing", changed(0, "50", "0"), [], ["--features", "log(age)"]),
    ("--features root below zero", changed(0, "50", "-1"), [], ["--features", "sqrt(age)"]),
    ("--features overflow", changed(0, "50", "5000"), [], ["--features", "exp(age)"]),
    ("--alternatives half named", GOOD, ["--alternatives"], ["--alternatives", "1=a,b"]),
    ("--wide for a long table", GOOD, [], ["--wide"]),
    # Cells.
    ("a missing feature", changed(3, "1.1", ""), ["line 5", "'inr'"]),
    ("a feature NaN", changed(3, "1.1", "nan"), ["line 5", "'inr'"]),
    ("a feature NA", changed(3, "1.1", "NA"), ["line 5", "'inr'"]),
    ("a feature infinite", changed(3, "1.1", "inf"), ["line 5", "'inr'"]),
    ("a feature minus infinite", changed(3, "1.1", "-Infinity"), ["line 5", "'inr'"]),
    ("a feature beyond floats", changed(3, "1.1", "1e999"), ["line 5", "'inr'"]),
    ("a feature of 1e308", changed(3, "1.1", "1e308"), ["'inr'", "too large"]),
    ("a feature of 400 digits", changed(3, "1.1", "9" * 400), ["line 5", "'inr'"]),
    ("a feature of 200 digits", changed(3, "1.1", "9" * 200), ["'inr'", "too large"]),
    ("a feature with a decimal comma", changed(3, "1.1", '"1,1"'), ["line 5", "'inr'"]),
    ("a feature with a thousands mark", changed(3, "40", '"1,000"'), ["line 5", "'age'"]),
    ("a feature with a unit", changed(3, "40", "40 y"), ["line 5", "'age'"]),
    ("a feature with a currency", changed(3, "40", "$40"), ["line 5", "'age'"]),
    ("a feature in per cent", changed(3, "40", "40%"), ["line 5", "'age'"]),
    ("a feature in hexadecimal", changed(3, "40", "0x28"), ["line 5", "'age'"]),
    ("a feature in full-width digits", changed(3, "40", "\uff14\uff10"), ["line 5", "'age'"]),
    ("a feature with a true minus", changed(3, "40", "\u221240"), ["line 5", "'age'"]),
    ("a feature as a formula", changed(3, "40", "=1+1"), ["line 5", "'age'"]),
    ("a feature of spreadsheet errors", changed(3, "40", "#DIV/0!"), ["line 5", "'age'"]),
    ("a feature as a list", changed(3, "40", '"[40]"'), ["line 5", "'age'"]),
    ("a feature as a complex number", changed(3, "40", "4j"), ["line 5", "'age'"]),
    ("a feature column of dates", column("born", ["2001-01-01"] * 6), ["'born'"]),
    ("a feature column of text", column("blood", list("ABABAB")), ["'blood'"]),
    ("a feature column that is empty", column("blood", [""] * 6), ["'blood'"]),
    ("a missing decision", changed(2, "2,", ",").replace("decision", "decision"), ["line 4", "'decision'"]),
    ("a missing time", changed(2, "2,2,", "2,,"), ["line 4", "'time'"]),
    ("a missing choice", changed(2, ",0,", ",,"), ["line 4", "'chosen'"]),
    ("a choice of 2", changed(2, ",0,", ",2,"), ["line 4", "'chosen'"]),
    ("a choice of text", changed(2, ",0,", ",perhaps,"), ["line 4", "'chosen'"]),
    ("a choice of -1", changed(2, ",0,", ",-1,"), ["line 4", "'chosen'"]),
    ("a choice of 0.5", changed(2, ",0,", ",0.5,"), ["line 4", "'chosen'"]),
    ("two chosen in a decision", changed(1, ",0,", ",1,"), ["chosen"]),
    ("a time that differs in a decision", changed(1, "1,1,b", "1,2,b"), ["line 3", "'time'"]),
    ("a time that goes backwards", changed(2, "2,2", "2,0").replace("2,2,b", "2,0,b"), ["'time'", "order"]),
    ("a time of 1.5", changed(2, "2,2,", "2,1.5,"), ["line 4", "'time'"]),
    ("a time that is infinite", changed(2, "2,2,", "2,inf,"), ["line 4", "'time'"]),
    ("a time of 1e30", changed(2, "2,2,", "2,1e30,").replace("2,2,b", "2,1e30,b"), ["line 4", "'time'"]),
    ("a time of 40 digits", changed(4, "3,3,", f"3,{'9' * 40},").replace("3,3,b", f"3,{'9' * 40},b"), ["'time'"]),
    ("a time of text", changed(2, "2,2,", "2,soon,"), ["line 4", "'time'"]),
    (
        "a time true or false",
        GOOD.replace(",1,a", ",false,a").replace(",1,b", ",false,b").replace(",2,", ",true,").replace(",3,", ",true,"),
        ["'time'"],
    ),
    ("a repeated candidate", changed(1, ",b,", ",a,"), ["'candidate'"]),
    ("a decision that comes back", GOOD + "1,4,c,0,33,1.0\n", ["line 8"]),
    ("an agent that is empty", column("agent", ["x", "x", "", "", "y", "y"]), ["line 4", "'agent'"]),
    ("two agents in a decision", column("agent", ["x", "y", "x", "x", "y", "y"]), ["'agent'"]),
    ("a session that is empty", column("session", ["x", "x", "", "", "y", "y"]), ["line 4", "'session'"]),
    ("two sessions in a decision", column("session", ["x", "y", "x", "x", "y", "y"]), ["'session'"]),
    ("a reward of text", column("reward", ["x", "", "", "1", "1", ""]), ["'reward'"]),
    ("a reward that is infinite", column("reward", ["inf", "", "", "1", "1", ""]), ["'reward'"]),
    (
        "a flag of availability of text",
        column("available", ["1", "1", "maybe", "1", "1", "1"]),
        ["line 4", "'available'"],
    ),
    ("the chosen one is not available", column("available", ["0", "1", "1", "1", "1", "1"]), ["available"]),
    ("nobody is available", column("available", ["1", "1", "0", "0", "1", "1"]), []),
]

DATES = ["2001-01-01", "2001-01-01", "2001-02-03", "2001-02-03", "2001-03-04", "2001-03-04"]


def dated(position: int, *values: str) -> str:
    """The good table with dates, some of which are replaced from a position on."""
    dates = [*DATES]
    dates[position : position + len(values)] = values
    rows = [row.split(",") for row in ROWS]
    cells = "\n".join(",".join([row[0], f'"{date}"', *row[2:]]) for row, date in zip(rows, dates, strict=True))
    return HEADER + cells + "\n"


FILES += [
    (f"date written {value!r}", dated(2, value, value), ["'time'", "line 4"])
    for value in (
        "03/02/2001",
        "3.2.2001",
        "Feb 3, 2001",
        "2001-02-30",
        "2001-13-01",
        "2001-02-03 25:00",
        "2001-W05-6",
        "0000-01-01",
        "9999-12-31",
        "1500-01-01",
        "-2001-02-03",
        "yesterday",
        "36925",
        "2001-02-03 Europe/Berlin",
        "now",
        "NaT",
        "",
    )
]
FILES += [
    ("a date in a zone that is none", dated(2, "2001-02-03T10:00+99:00"), ["'time'"]),
    (
        "dates without and with a time zone",
        dated(2, "2001-02-03T00:00+01:00", "2001-02-03T00:00+01:00"),
        ["line 2", "time zone"],
    ),
    ("dates that differ by their zone", dated(2, "2001-02-03T00:00+01:00", "2001-02-03T00:00+02:00"), ["'time'"]),
    ("dates all day first", dated(0, *["13/01/2001"] * 2, *["14/02/2001"] * 2, *["15/03/2001"] * 2), ["2002-02-27"]),
    (
        "dates backwards by their zone",
        dated(0, *["2001-01-01T00:00-12:00"] * 2, *["2001-01-01T01:00+12:00"] * 2, *["2001-01-03T00:00+00:00"] * 2),
        ["'time'", "order"],
    ),
]


def parquet(table: Callable[[], Any], **options: Any) -> Callable[[Path], None]:
    """Writes a Parquet file."""

    def make(folder: Path) -> None:
        pq.write_table(table(), folder / "log.parquet", **options)

    return make


def with_column(name: str, values: Any, kind: Any = None) -> Callable[[], pa.Table]:
    """The good table as Parquet, one column replaced or added."""

    def table() -> pa.Table:
        columns: dict[str, Any] = {
            "decision": [1, 1, 2, 2, 3, 3],
            "time": [1, 1, 2, 2, 3, 3],
            "chosen": [1, 0, 0, 1, 1, 0],
            "age": [50.0, 60.0, 51.0, 40.0, 45.0, 42.0],
        }
        columns[name] = pa.array(values, kind)
        return pa.table(columns)

    return table


def undecodable() -> pa.Table:
    """Bytes that claim to be text."""
    offsets = pa.array([0, 1, 2, 3, 4, 5, 6], pa.int32()).buffers()[1]
    text = pa.Array.from_buffers(pa.string(), 6, [None, offsets, pa.py_buffer(b"\xff" * 6)])
    return with_column("age", [1.0] * 6)().append_column("blood", text)


def metadata(content: bytes) -> Callable[[Path], None]:
    """A Parquet file whose pandas metadata is this."""
    table = with_column("inr", ["x"] * 6)
    return parquet(lambda: table().replace_schema_metadata({b"pandas": content}))


def damaged(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """A good Parquet file whose bytes are changed."""

    def make(folder: Path) -> None:
        parquet(with_column("inr", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))(folder)
        path = folder / "log.parquet"
        path.write_bytes(change(path.read_bytes()))

    return make


def many_rows(folder: Path) -> None:
    """A small table whose footer says that it has 300 million rows; nothing else in the file is changed."""
    rows = 1_234_567
    pq.write_table(pa.table({"age": pa.array(np.ones(rows))}), folder / "log.parquet")
    path = folder / "log.parquet"
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8].replace(varint(2 * rows), varint(2 * 300_000_000))
    path.write_bytes(content[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def varint(number: int) -> bytes:
    """A number as the footer of Parquet has it: seven bits to a byte."""
    digits = []
    while number >= 128:
        digits.append(number % 128 + 128)
        number //= 128
    return bytes([*digits, number])


def pandas_index(columns: Any) -> bytes:
    return json.dumps({"index_columns": columns, "columns": [], "column_indexes": []}).encode()


PARQUET: list[tuple[Any, ...]] = [
    ("empty", file_of("log.parquet", b""), ["log.parquet"]),
    ("text", file_of("log.parquet", GOOD), ["log.parquet"]),
    ("only its marks", file_of("log.parquet", b"PAR1PAR1"), ["log.parquet"]),
    ("encrypted mark", file_of("log.parquet", b"PARE" + b"\0" * 50 + b"PARE"), ["log.parquet"]),
    ("without its end", damaged(lambda content: content[: len(content) // 2]), ["log.parquet"]),
    ("without its beginning", damaged(lambda content: content[len(content) // 2 :]), ["log.parquet"]),
    ("footer of noise", damaged(lambda content: content[:-200] + b"\xff" * 192 + content[-8:]), ["log.parquet"]),
    ("pages of noise", damaged(lambda content: content[:4] + b"\xff" * 200 + content[204:]), ["log.parquet"]),
    ("footer too long", damaged(lambda content: content[:-8] + b"\xff\xff\xff\x7fPAR1"), ["log.parquet"]),
    ("no rows", parquet(lambda: with_column("inr", [1.0] * 6)().slice(0, 0)), [NO_ROWS]),
    ("no columns", parquet(lambda: pa.table({})), []),
    ("column of lists", parquet(with_column("age", [[1.0]] * 6)), ["'age'", "list"]),
    ("column of structs", parquet(with_column("age", [{"years": 1}] * 6)), ["'age'", "struct"]),
    (
        "column of maps",
        parquet(with_column("age", [[("a", 1)]] * 6, pa.map_(pa.string(), pa.int64()))),
        ["'age'", "map"],
    ),
    ("column of bytes", parquet(with_column("age", [b"\xff"] * 6)), ["'age'", "bytes"]),
    ("column of fixed bytes", parquet(with_column("age", [b"ab"] * 6, pa.binary(2))), ["'age'", "bytes"]),
    ("column of nothing", parquet(with_column("age", [None] * 6)), ["'age'"]),
    ("column of times of day", parquet(with_column("age", [1] * 6, pa.time64("us"))), ["'age'"]),
    ("column of durations", parquet(with_column("age", [1] * 6, pa.duration("us"))), ["'age'"]),
    ("column of dates", parquet(with_column("age", [1] * 6, pa.date32())), ["'age'"]),
    ("column of moments", parquet(with_column("age", [1] * 6, pa.timestamp("us"))), ["'age'"]),
    ("decisions as lists", parquet(with_column("decision", [[1]] * 6)), ["'decision'"]),
    ("decisions as bytes", parquet(with_column("decision", [b"1"] * 6)), ["'decision'"]),
    ("choices as lists", parquet(with_column("chosen", [[1]] * 6)), ["'chosen'"]),
    ("choices as structs", parquet(with_column("chosen", [{"a": 1}] * 6)), ["'chosen'"]),
    ("times as lists", parquet(with_column("time", [[1]] * 6)), ["'time'"]),
    ("times as moments out of range", parquet(with_column("time", [2**62] * 6, pa.timestamp("us"))), ["'time'"]),
    ("times as moments before 1678", parquet(with_column("time", [-(10**11)] * 6, pa.timestamp("s"))), ["'time'"]),
    ("text that cannot be decoded", parquet(undecodable), ["'blood'"]),
    (
        "a column twice",
        parquet(lambda: with_column("inr", [1.0] * 6)().rename_columns(["decision", "time", "chosen", "age", "age"])),
        ["'age'", "more than once"],
    ),
    ("a column without a name", parquet(with_column("", [1.0] * 6)), ["no name"]),
    ("missing numbers", parquet(with_column("age", [1, None, 2, 3, 4, 5])), ["'age'"]),
    ("metadata that is a JSON bomb", metadata(b"[" * 200_000), ["'inr'"]),
    ("metadata that is no JSON", metadata(b"\xff{"), ["'inr'"]),
    ("metadata that is a number", metadata(b"7"), ["'inr'"]),
    ("metadata without columns", metadata(b"{}"), ["'inr'"]),
    ("metadata whose columns are a number", metadata(b'{"index_columns": 3, "columns": 4}'), ["'inr'"]),
    ("metadata whose index is a number", metadata(pandas_index(5)), ["'inr'"]),
    ("metadata whose index does not exist", metadata(pandas_index(["nothing"])), ["'inr'"]),
    (
        "metadata whose index is a huge range",
        metadata(pandas_index([{"kind": "range", "name": None, "start": 0, "stop": 10**18, "step": 1}])),
        ["'inr'"],
    ),
    (
        "metadata whose index steps by zero",
        metadata(pandas_index([{"kind": "range", "name": None, "start": 0, "stop": 6, "step": 0}])),
        ["'inr'"],
    ),
]

LONG_NAME = "x" * 300 + ".csv"
VERBS = {
    "show": ["show", "{}"],
    "fit": ["fit", "nb_icb", "{}"],
    "convert": ["convert", "{}", "-o", "out.nc"],
}
PATHS: list[tuple[str, str, list[str], Callable[[Path], Any]]] = [
    ("a name too long", LONG_NAME, ["too long"], lambda folder: None),
    ("a path too long", "/".join(["x" * 200] * 40) + ".csv", ["too long"], lambda folder: None),
    ("a name with a NUL byte", "a\0b.csv", [], lambda folder: None),
    ("an empty name", "", [], lambda folder: None),
    ("a folder", "folder.csv", ["folder"], lambda folder: (folder / "folder.csv").mkdir()),
    ("no such file", "nowhere.csv", ["no such file"], lambda folder: None),
    ("no such folder", "nowhere/log.csv", ["no such file"], lambda folder: None),
    ("a link to nothing", "link.csv", ["no such file"], lambda folder: (folder / "link.csv").symlink_to("nowhere")),
    ("a link to itself", "link.csv", [], lambda folder: (folder / "link.csv").symlink_to("link.csv")),
    ("an ending of spreadsheets", "log.xlsx", [".csv"], file_of("log.xlsx", GOOD)),
    ("no ending", "log", [".csv"], file_of("log", GOOD)),
    ("an ending in capitals", "log.CSV", [".csv"], file_of("log.CSV", GOOD)),
    ("a file as a folder", "log.csv/inside.csv", [], file_of("log.csv", GOOD)),
]

KINDS = [
    Kind(f"CSV: {name}", ["show", "log.csv", *(options[0] if options else [])], words, file_of("log.csv", content))
    for name, content, words, *options in FILES
]
KINDS += [Kind(f"Parquet: {name}", ["show", "log.parquet"], words, make) for name, make, words in PARQUET]
KINDS += [
    Kind(
        "Parquet: 300 million rows in 4 GB", ["show", "log.parquet"], ["300,000,000 rows", "memory"], many_rows, free(4)
    ),
    Kind("CSV: larger than memory", ["show", "log.csv"], ["memory"], file_of("log.csv", GOOD), free(2**-28)),
]
KINDS += [
    Kind(f"path of {verb}: {name}", [part.format(path) for part in command], words, make)
    for name, path, words, make in PATHS
    for verb, command in VERBS.items()
]
