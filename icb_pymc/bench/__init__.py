"""A comparison of the samplers, and of whole commands, in one run: `icb bench`.

- `tables`: the tables of samplers. `growth`: longer and longer logs. `wide`: more and more features and candidates.
- `measure`: one sampler on one problem, in a separate process.
- `commands`: whole commands, from Enter to the prompt, stage by stage.
- `noncentred`: the models in the form that suits NUTS. `psytrack_mode`: PsyTrack's model by both packages.
"""
