"""Chunks compressed by this package are what the HDF5 library reads."""

import io
import zlib

import h5py
import numpy as np
import pytest

from icb_pymc.io.compressed_chunks import chunk_shape, deflated, write_chunks

RNG = np.random.default_rng(0)
NUMBERS = {
    "random float32": RNG.standard_normal((3, 500, 40), dtype="float32"),
    "random float64": RNG.standard_normal((2, 7, 333)),
    "constants": np.full((2, 1000), 0.1),
    "missing and infinite": np.array([np.nan, np.inf, -np.inf, 0.0, -0.0]),
    "not in one piece": RNG.standard_normal((30, 20, 10))[::2, ::-1].transpose(2, 0, 1),
    "one number": np.array([1.5], "float32"),
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("edge", [True, False], ids=["cut at the edge", "by size"])
def test_hdf5_reads_what_was_written(values, edge):
    chunks = tuple(max(1, 2 * size // 3) for size in values.shape) if edge else chunk_shape(values.shape, 4)
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        options = {"chunks": chunks, "compression": "gzip", "shuffle": True}
        dataset = file.create_dataset("draws", values.shape, values.dtype, **options)
        write_chunks(dataset, values)
        file.flush()
        image = file.id.get_file_image()
    with h5py.File(io.BytesIO(image), "r") as file:
        np.testing.assert_array_equal(file["draws"][()], values)


def test_bytes_that_are_random_are_stored_and_others_compressed():
    draws = 3 + 0.1 * RNG.standard_normal(100_000, dtype="float32")
    assert len(deflated(draws)) < 0.8 * draws.nbytes
    assert len(deflated(RNG.integers(0, 256, 200_000, dtype="uint8"))) < 200_100
    assert len(deflated(np.zeros(100_000))) < 10_000


def test_streams_are_whole_and_checked():
    values = RNG.standard_normal(100_000)
    stream = bytearray(deflated(values))
    assert len(zlib.decompress(stream)) == values.nbytes
    stream[70_000] ^= 1
    with pytest.raises(zlib.error, match="incorrect data check"):
        zlib.decompress(stream)


def test_chunks_lie_in_one_piece_and_cover_all_dimensions():
    assert chunk_shape((4, 1000, 500, 8), 4) == (1, 62, 500, 8)
    assert chunk_shape((4, 1000, 10**6, 8), 4) == (1, 1, 31250, 8)
