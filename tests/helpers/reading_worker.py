"""Reads the files that are named on its standard input, one per line, and answers each with how that ended.

A process of its own, so that a crash of the HDF5 or Arrow library ends it and not the tests.
"""

import sys
import warnings

from icb_pymc import read_decisions, read_trace
from icb_pymc.errors import InputError

READERS = {"decisions": read_decisions, "trace": read_trace}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    reader = READERS[sys.argv[1]]
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            reader(line.rstrip("\n"))
            answer = "read"
        except InputError as error:
            answer = f"refused: {error}".replace("\n", " ")
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(answer, flush=True)
