"""How fast the samplers are, side by side in one run: `icb bench`."""
