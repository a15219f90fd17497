"""Reproduce the paper's tables and figures, with the paper's own numbers beside ours.

- `paper_tables`, `figures`: which tables and figures there are, and which runs they are made of.
- `scale`, `algorithms`: how large the runs are, and how each algorithm is run under a preset.
- `log`, `unit`: a description of a log of decisions; a description of a run: a log, an algorithm and settings.
- `work`: carries out a run from its description.
- `store`, `running`: finished runs on disk; doing the missing ones.
- `published`, `formats`: the paper's numbers; tables as text, Markdown, CSV and LaTeX.
"""
