"""The trace of a fit: its parts, its file, a smaller copy to share, and the registry of shared traces.

Reading a trace belongs here, judging it belongs to `assess`.

- `inference_data`: everything that differs between PyMC 5 (`arviz.InferenceData`) and PyMC 6 (`xarray.DataTree`).
- `traces`: write, read and check a trace file; `trace_contents`: its words and numbers.
- `posterior`: draws, decisions and true values in a trace.
- `fits`: a folder with the traces of many subjects, and its index.
- `checkpoint`: a folder in which a long fit keeps its chains while it runs.
- `kept_times`: which times of a path are kept. `sharing`: a smaller trace. `registry`: shared traces by name.
"""
