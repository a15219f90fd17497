"""A comparison of the samplers in one run: `icb bench`.

- `tables`: the tables. `measure`: one sampler on one problem, in a separate process.
- `noncentred`: the models in the form that suits NUTS. `psytrack_mode`: PsyTrack's model by both packages.
"""
