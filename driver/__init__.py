"""The commands: they read options, have the analysis made, and deliver its report."""


class UsageError(Exception):
    """A mistake on the command line; the message says which. `status` is the exit status."""

    status = 2
