"""Errors and warnings about the input of a user."""


class InputError(ValueError):
    """Input that cannot be used.

    The message is one sentence that names what is wrong and says what to do about it.

    Parameters
    ----------
    message : str
    on_command_line : str, optional
        The same sentence for users of the command line, if it names options.

    Examples
    --------
    >>> import icb_pymc
    >>> try:
    ...     icb_pymc.from_arrays([[[50.0], [60.0]]], [0.5])
    ... except icb_pymc.InputError as error:
    ...     print(error)
    chosen must hold whole numbers: the slot of the chosen candidate, from 0.
    """

    def __init__(self, message: str, *, on_command_line: str | None = None) -> None:
        super().__init__(message)
        self.on_command_line = on_command_line or message


class InputWarning(UserWarning):
    """Input that can be used, but probably does not mean what its author intended.

    Examples
    --------
    Where such input is intended, the warnings can be switched off:

    >>> import warnings
    >>> import icb_pymc
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", icb_pymc.InputWarning)
    ...     decisions = icb_pymc.from_arrays([[[50.0, 3.0], [60.0, 3.0]]], [0], features=["age", "site"])
    """
