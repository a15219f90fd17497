"""Chunks of an HDF5 dataset in the format of its filters (shuffle and deflate), at a fraction of their time.

Of the bytes of a random number only the highest, its sign and exponent, can be compressed; deflate takes most of its
time to find that out about the others. Here bytes of each position are compressed or stored as a first look at them
suggests, which deflate's format allows within one stream, and all that reads HDF5 reads it.
"""

import zlib
from collections.abc import Iterator

import h5py
import numpy as np

CHUNK_BYTES = 1_000_000
# Bytes at a time, from several places, by which it is decided whether the rest is worth compressing, and the share
# that must remain at most.
LOOK, PLACES, WORTH = 1024, 4, 0.9
# Header of a stream (RFC 1950), and a last block that is stored and empty (RFC 1951).
HEADER, LAST_BLOCK, LONGEST_STORED = b"\x78\x01", b"\x01\x00\x00\xff\xff", 65535


def chunk_shape(shape: tuple[int, ...], item_bytes: int) -> tuple[int, ...]:
    """Chunks of about a megabyte that lie in one piece in memory.

    Examples
    --------
    >>> chunk_shape((4, 1000, 500, 8), 4)
    (1, 62, 500, 8)
    >>> chunk_shape((4, 10), 8)
    (4, 10)
    """
    chunk, left = [1] * len(shape), max(1, CHUNK_BYTES // item_bytes)
    for dimension in reversed(range(len(shape))):
        chunk[dimension] = max(1, min(shape[dimension], left))
        left //= chunk[dimension]
    return tuple(chunk)


def write_chunks(dataset: h5py.Dataset, values: np.ndarray) -> None:
    """Write all values of a chunked dataset whose filters are shuffle and deflate."""
    for corner in np.ndindex(*(-(-size // step) for size, step in zip(values.shape, dataset.chunks, strict=True))):
        begin = tuple(index * step for index, step in zip(corner, dataset.chunks, strict=True))
        part = values[tuple(slice(at, at + step) for at, step in zip(begin, dataset.chunks, strict=True))]
        if part.shape != dataset.chunks:
            # Chunks at the edge are as large as all others.
            part = np.pad(part, [(0, step - size) for size, step in zip(part.shape, dataset.chunks, strict=True)])
        dataset.id.write_direct_chunk(begin, deflated(np.ascontiguousarray(part, dataset.dtype)))


def deflated(values: np.ndarray) -> bytes:
    """The bytes of numbers, those of each position together, as a stream in zlib's format.

    Examples
    --------
    >>> stream = deflated(np.array([1.0, 2.0]))
    >>> np.frombuffer(zlib.decompress(stream), np.uint8).reshape(8, 2).T.copy().view(np.float64).ravel()
    array([1., 2.])
    """
    planes = np.ascontiguousarray(values.reshape(-1, 1).view(np.uint8).T)
    blocks = [HEADER]
    for plane in planes:
        blocks.extend(_compressed(plane) if _is_worth_compressing(plane) else _stored(plane))
    return b"".join([*blocks, LAST_BLOCK, zlib.adler32(planes).to_bytes(4, "big")])


def _is_worth_compressing(plane: np.ndarray) -> bool:
    places = np.linspace(0, max(0, len(plane) - LOOK), PLACES).astype(int)
    looked_at = np.concatenate([plane[place : place + LOOK] for place in places])
    return len(b"".join(_compressed(looked_at))) < WORTH * len(looked_at)


def _compressed(plane: np.ndarray) -> Iterator[bytes]:
    compressor = zlib.compressobj(1, zlib.DEFLATED, -15)
    yield compressor.compress(plane)
    yield compressor.flush(zlib.Z_FULL_FLUSH)


def _stored(plane: np.ndarray) -> Iterator[bytes]:
    for begin in range(0, len(plane), LONGEST_STORED):
        block = plane[begin : begin + LONGEST_STORED].tobytes()
        yield b"\x00" + len(block).to_bytes(2, "little") + (len(block) ^ 0xFFFF).to_bytes(2, "little")
        yield block
