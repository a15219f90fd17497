"""What is said to a person whose input cannot be used."""


class InputError(ValueError):
    """Bad input, told in one sentence that names what is wrong and what to do about it."""


class InputWarning(UserWarning):
    """Input that can be used, but probably not as its author believes."""
