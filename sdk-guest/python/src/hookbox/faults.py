"""A hook that could not decide. Any exception is one."""


class BadInput(ValueError):
    """The event is not of the form this hook reads. Any other exception is a failure of the hook itself."""
