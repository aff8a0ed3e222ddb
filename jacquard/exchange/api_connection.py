"""Requests to the API of an inventory: bounded in time and size, retried, with one-sentence messages for errors.

Redirects are not followed, so that the token is sent to the requested address only. A redirect is an error because the
APIs of NetBox and Nautobot do not redirect; proxies redirect to a login page.
"""

import json
import re
import ssl
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from components.specs.reading.problems import shown, visible
from components.specs.secret_text import masked_forms
from components.specs.struct import Struct
from jacquard.machine.http import Token, is_this_machine, reason

EXAMPLE = "https://netbox.example"
Pairs = Sequence[tuple[str, str]]
"""Query parameters; a name can occur several times."""
_TIMEOUT_SECONDS = (10.0, 60.0)
"""Time-outs to connect, and between two packets of an answer."""
_ATTEMPTS = 4
_MAX_WAIT_SECONDS = 30.0
"""Longest wait before a further attempt; a server that requires a longer one is reported at once."""
_MAX_BYTES = 100_000_000
_CHUNK = 1 << 16
_QUOTED = 200
"""Maximum number of characters that are quoted from an answer."""
_BUSY = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
_TOKEN = re.compile(r"[!-~]+")


class SourceError(Exception):
    """The inventory did not answer; the text contains the reason and the remedy."""


class _BusyError(SourceError):
    """Error after which the same request may succeed, ``seconds`` later if the server names a time."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class Answer(Struct):
    """A successful answer in JSON."""

    content: bytes
    version: str
    """Value of ``API-Version``; empty if absent."""


def address_problem(url: str) -> str | None:
    """Return the reason why ``url`` is not an address of an inventory; None for an address."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        valid, parts = None, urlsplit("")
    if "@" in url:
        return "must not contain a login; pass the token by --token-env"
    if not valid or parts.query or parts.fragment or not url.isprintable():
        return f"must be the address of NetBox or Nautobot (got {shown(url)}); write it like {EXAMPLE}"
    if parts.scheme == "http" and not is_this_machine(parts.hostname or ""):
        return f"would send the token without encryption (got {shown(url)}); write https://"
    return None


def authority_problem(file: Path) -> str | None:
    """Return the reason why ``file`` does not contain the certificate of a CA; None if it does."""
    try:
        certificates = ssl.create_default_context(cafile=file).get_ca_certs()
    except ssl.SSLError:
        certificates = []
    except OSError as error:
        return f"cannot be read: {(error.strerror or str(error)).lower()}; name another file"
    return None if certificates else "contains no certificate of a CA; write it in PEM form"


def is_token(text: str) -> bool:
    """Return whether ``text`` can be sent as a token."""
    return _TOKEN.fullmatch(text) is not None


class Connection:
    """An inventory and its token.

    Args:
        title: name of the system.
        url: address for which `address_problem` returns None.
        authorization: value of the header ``Authorization``.
        token: part of ``authorization`` that is never part of a message, even if the server repeats it.
        variable: environment variable of the token, for messages.
        authority: file with the certificate of the server's CA; None for the default of this machine.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        title: str,
        url: str,
        *,
        authorization: str,
        token: str,
        variable: str,
        authority: Path | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = url.rstrip("/").removesuffix("/api")
        self.name = f"{title} at {visible(self.address)}"
        self._token = token
        self._variable = variable
        self._verify: str | bool = True if authority is None else str(authority)
        self._session = requests.Session()
        self._session.auth = Token("Authorization", authorization)
        self._session.headers.update({"Accept": "application/json", "User-Agent": "jacquard"})
        host = urlsplit(url).hostname or ""
        self._proxies = {"no_proxy": host} if is_this_machine(host) else {}
        self._retrying = Retrying(
            retry=retry_if_exception_type(_BusyError),
            stop=lambda state: stop_after_attempt(_ATTEMPTS)(state) or _waiting(state) > _MAX_WAIT_SECONDS,
            wait=_waiting,
            sleep=sleep,
            reraise=True,
        )

    def get(self, path: str, query: Pairs) -> Answer:
        """Return the answer to a request.

        Raises:
            SourceError: no attempt succeeded.
        """
        return self._retrying(self._get, path, query)

    def quoted(self, text: str) -> str:
        """Return ``text`` of the server for a message: in one line, shortened and without credentials."""
        hidden = text.replace(self._token, "***")
        short = visible(masked_forms(" ".join(hidden.split())))
        return short if len(short) <= _QUOTED else f"{short[:_QUOTED]}..."

    def _get(self, path: str, query: Pairs) -> Answer:
        try:
            answer = self._session.get(
                self.address + path,
                params=list(query),
                timeout=_TIMEOUT_SECONDS,
                allow_redirects=False,
                verify=self._verify,
                proxies=self._proxies,
                stream=True,
            )
            with answer:
                content = b"".join(self._chunks(answer))
        except requests.exceptions.SSLError as error:
            remedy = "name a file with the certificate of its CA by --ca-file"
            msg = f"{self.name} has no trusted certificate ({self.quoted(reason(error))}); {remedy}"
            raise SourceError(msg) from None
        except OSError as error:  # of requests too
            msg = f"{self.name} cannot be reached ({self.quoted(reason(error))}); check --url and the network"
            raise _BusyError(msg) from None
        if answer.status_code != HTTPStatus.OK:
            raise self._refusal(answer, _decoded(content))
        if _decoded(content) is None:
            kind = answer.headers.get("Content-Type", "no type").partition(";")[0]
            text = f"did not answer with JSON ({self.quoted(kind)}), as login pages of proxies"
            msg = f"{self.name} {text}; correct --url, or use an address of the API without a login page"
            raise SourceError(msg)
        return Answer(content=content, version=answer.headers.get("API-Version", "").strip())

    def _chunks(self, answer: requests.Response) -> Any:
        size = 0
        for chunk in answer.iter_content(_CHUNK):
            size += len(chunk)
            if size > _MAX_BYTES:
                msg = f"{self.name} answered with more than {_MAX_BYTES // 1_000_000} MB; correct --url"
                raise SourceError(msg)
            yield chunk

    def _refusal(self, answer: requests.Response, body: Any) -> SourceError:
        """Return the error of an unsuccessful answer, with its remedy."""
        status, text = answer.status_code, self.quoted(_message(body))
        failure = f"{self.name} answered {status}{f' ({text})' if text else ''}"
        if status in _BUSY:
            seconds = _retry_after(answer)
            remedy = "retry later" if seconds is None else f"retry in {seconds:.0f} s"
            return _BusyError(f"{failure}; {remedy}", seconds)
        if answer.is_redirect:
            target = urlsplit(answer.headers.get("Location", ""))
            where = self.quoted(f"{target.scheme}://{target.netloc}{target.path}" if target.netloc else target.path)
            remedy = "correct --url, or use an address of the API without a login page"
            return SourceError(f"{failure}, a redirect to {where}; {remedy}")
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            return SourceError(f"{failure}; set {self._variable} to a valid token that may view devices")
        if status == HTTPStatus.BAD_REQUEST:
            return SourceError(f"{failure}; correct --filter")
        return SourceError(f"{failure}; correct --url, which is the address above /api")


def _decoded(content: bytes) -> Any:
    """Return the JSON of ``content``; None for other contents."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _message(body: Any) -> str:
    """Return the message of an error of Django REST framework: a ``detail``, or lists of messages by field."""
    if not isinstance(body, dict):
        return ""
    for name in ("detail", "error"):
        if isinstance(text := body.get(name), str):
            return text
    fields = ((name, text[0] if isinstance(text, list) and text else text) for name, text in body.items())
    return ", ".join(f"{name}: {text}" for name, text in fields if isinstance(text, str))


def _retry_after(answer: requests.Response) -> float | None:
    """Return the seconds of ``Retry-After``; None without it, or for a date."""
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdecimal() else None


def _waiting(state: RetryCallState) -> float:
    """Return the wait before the next attempt: as the server requires, otherwise 1, 2 and 4 seconds."""
    failure = state.outcome.exception() if state.outcome else None
    seconds = failure.seconds if isinstance(failure, _BusyError) else None
    return 2.0 ** (state.attempt_number - 1) if seconds is None else seconds
