"""Hyperparameters as JSON, which the attributes of a file can hold."""

import json
from typing import Any


def as_json(hyperparameters: dict[str, Any]) -> str:
    """Hyperparameters as JSON for a file's attributes; arrays become lists, random variables their names."""
    return json.dumps(hyperparameters, default=_plain, sort_keys=True)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return getattr(value, "name", None) or repr(value)
