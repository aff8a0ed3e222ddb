"""Base class of errors whose message is written for users."""


class ProviderError(Exception):
    """An error that is shown to the user without a traceback: event, rule and remedy."""
