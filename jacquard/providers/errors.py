"""Base class of errors whose message is written for users."""


class ProviderError(Exception):
    """An error that is shown to the user without a traceback: event, rule and remedy."""

    unreachable: bool = False
    """Whether the cluster does not exist yet or does not answer, so that its state is unknown."""
