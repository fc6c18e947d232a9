"""Fails."""


def fails():
    raise LookupError("an error")
