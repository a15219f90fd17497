"""Reading and writing bytes safely, and work in other processes; nothing here knows what a decision is.

- `files`: files that are written whole or not at all. `netcdf`: datasets as the bytes of a netCDF file, in
  `compressed_chunks`.
- `array_trees`: nested dictionaries with arrays in one file, without pickle.
- `untrusted`: checks of what an HDF5 file declares, before any of it is read.
- `csv_tables`, `parquet_tables`: tables as data frames, refused by name if they are something else.
- `text`: text from files as terminals, pages and pictures can show it, one place for each escaping.
- `plain_json`: results as JSON for other programs.
- `attributes`: settings as the JSON text of a file's attributes, and their kinds.
- `machine`: memory and cores that this process may use. `caches`: a place for what libraries compile.
- `workers`: local processes or a Dask cluster. `tasks`: many tasks on workers that may die. `progress`: a bar.
- `forks`: tasks in forked processes, for functions that cannot be sent. `late_modules`: PyMC without figures, sooner.
"""
