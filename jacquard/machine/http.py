"""Shared parts of HTTP clients: a token as an auth object, and the reason of a failed connection."""

import ipaddress

import requests
from requests.auth import AuthBase


class Token(AuthBase):
    """The header with a token, as an auth object, so that ``.netrc`` cannot replace the header."""

    def __init__(self, header: str, value: str) -> None:
        self._header = header
        self._value = value

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the token to ``request``."""
        request.headers[self._header] = self._value
        return request


def is_this_machine(host: str) -> bool:
    """Return whether ``host`` is a loopback address, which needs no encryption and no proxy."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def reason(error: OSError) -> str:
    """Return the message of the innermost cause of a connection error."""
    inner: BaseException = error
    while isinstance(cause := getattr(inner, "reason", None) or next(iter(inner.args), None), BaseException):
        inner = cause
    return str(inner).rpartition(": ")[2] or type(inner).__name__
