"""The catalogue: one file is one declared model, read top to bottom like the paper's equations."""

from . import agents

__all__ = ["agents"]
