"""The paper's tables and figures, made anew and set beside its own figures.

paper_tables, figures   what there is to make, and from which runs
scale, algorithms       how large the runs are, and how each algorithm is run under a preset
log, unit               a log of decisions described; a run described: a log, an algorithm and a seed
work                    carries a described run out
store, running, workers finished runs on disk; doing what is missing; by processes or on a Dask cluster
published, formats      the paper's figures; tables as text, Markdown, CSV and LaTeX
"""
