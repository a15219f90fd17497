"""Results as JSON for other programs.

Data frames become lists of objects, one for each row; dates become text; NaN and infinity become null.
"""

import json
import math
import re
from typing import Any


def as_json_text(value: Any) -> str:
    """A result as indented JSON."""
    return json.dumps(as_plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def as_plain(value: Any) -> Any:
    """A result as dictionaries, lists, numbers and text, which JSON can hold."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {str(name): as_plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(part) for part in value]
    if hasattr(value, "reset_index"):
        table = value if value.index.names == [None] else value.reset_index()
        # Column headings as keys: "R-hat" becomes r_hat, "chosen - others" chosen_minus_others.
        headings = [str(column).lower().replace(" - ", " minus ") for column in table.columns]
        keys = [re.sub(r"\W+", "_", heading).strip("_") for heading in headings]
        return [dict(zip(keys, map(as_plain, row), strict=True)) for row in table.itertuples(index=False, name=None)]
    dtype = getattr(value, "dtype", None)
    if dtype is not None and dtype.kind not in "Mm":
        return as_plain(value.tolist())
    # Dates, without the time of day if it is midnight.
    return re.sub(r"[T ]00:00:00(\.0+)?$", "", str(value))
