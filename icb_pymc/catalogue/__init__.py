"""Find a model by its name, by the path of its file, by registration or by entry point.

How a model is declared belongs to `declare`; how it is fitted to `sample`.

- `built_in`: the models that come with the package. `lookup`: all models by name, and their hyperparameters.
- `hyperparameter_values`: values that are refused.
- `model_files`: user-defined models in files.
- `model_template`, `hierarchical_template`: the files that `icb new` writes.
"""
