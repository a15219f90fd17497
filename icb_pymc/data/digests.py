"""A hash of decisions, by which work that was interrupted knows that it continues with the same ones."""

from hashlib import sha256

import xarray as xr


def digest_of_decisions(decisions: xr.Dataset) -> str:
    """A hash of all values and attributes of decisions.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> others = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [1, 1])
    >>> digest_of_decisions(decisions) == digest_of_decisions(others)
    False
    """
    found = sha256(repr(sorted((str(name), str(value)) for name, value in decisions.attrs.items())).encode())
    for name in sorted(map(str, decisions.variables)):
        values = decisions[name].values
        # The width of text depends on the longest, also where that belongs to another subject.
        content = repr(values.tolist()).encode() if values.dtype.kind in "OU" else values.tobytes()
        found.update(repr((name, decisions[name].dims, values.shape, values.dtype.kind)).encode() + content)
    return found.hexdigest()[:32]
