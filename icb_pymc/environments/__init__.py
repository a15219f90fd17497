"""Where contexts come from."""
