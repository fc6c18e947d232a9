"""The exception of a hook that could not decide. Any other exception has the same effect."""


class BadInput(ValueError):
    """The event does not have the form that the hook expects. Any other exception is a failure of the hook itself."""
