"""Find a model by name, by the path of its file, by registration or by entry point.

What a model is made of belongs to `declare`; what it is fitted with to `sample`.

- `lookup`: models by name, and their hyperparameters. `model_files`: models in files of one's own.
- `model_template`: the file that `icb new` writes.
"""
