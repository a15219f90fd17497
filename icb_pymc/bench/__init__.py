"""How fast the samplers are, side by side in one run: `icb bench`.

- `tables`: what is measured and printed. `measure`: one sampler on one problem, in a process of its own.
- `noncentred`: the models as NUTS likes them. `psytrack_mode`: PsyTrack's model by both packages.
"""
