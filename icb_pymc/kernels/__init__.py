"""Numerical kernels on plain arrays: no PyMC, no input or output, each tested against a dense formula."""
