"""Asks a forge's API over HTTP, and turns whatever goes wrong into one sentence. Nothing is asked twice here.

Redirects are not followed, so that the token goes nowhere but to the address it is for.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import requests
from requests.auth import AuthBase

from components.specs.reading.problems import visible
from jacquard.forges.forge import Busy, ForgeError, Gone

_TIMEOUT_SECONDS = 30.0
_PAGE = 100
"""Most comments that a forge gives at once."""
_UNSAID_LIMIT_SECONDS = 60.0
"""How long GitHub asks to wait after a limit that does not say until when."""
_QUOTED = 200
"""Most characters of a forge's own words that are repeated."""
_SECONDARY = "secondary rate limit"
_NOT_THERE = {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
_NOT_TAKEN = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_REMEDIES: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "the token is not valid, or no longer; give the job another one",
    HTTPStatus.FORBIDDEN: "the token may not write comments here, as none of a fork may; give the job one that may",
}


class Token(AuthBase):
    """The header by which a token is shown; as an object of its own, so that no ``.netrc`` takes its place."""

    def __init__(self, header: str, value: str) -> None:
        self._header = header
        self._value = value

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Put the token into ``request``."""
        request.headers[self._header] = self._value
        return request


class Connection:
    """One API and the token for it.

    Args:
        name: what people call the forge.
        address: of its API, without a slash at the end.
        token: never part of any message, even if the forge repeats it.
        header: the name of the header that shows the token.
        scheme: what stands before the token in that header.
    """

    def __init__(self, name: str, address: str, token: str, *, header: str, scheme: str = "") -> None:
        self._name = name
        self._address = address
        self._secret = token
        self._session = requests.Session()
        self._session.auth = Token(header, f"{scheme}{token}")
        self._session.headers.update({"Accept": "application/json", "User-Agent": "jacquard"})

    def pages(self, path: str, **query: str) -> Iterator[dict[str, Any]]:
        """Return the entries of all pages of a list, in the order the forge has them."""
        page = 1
        while True:
            entries = self.ask("GET", path, query={**query, "per_page": str(_PAGE), "page": str(page)})
            if not isinstance(entries, list):
                raise self._no_api()
            yield from entries
            if len(entries) < _PAGE:
                return
            page += 1

    def ask(self, method: str, path: str, *, query: Mapping[str, str] | None = None, body: Any = None) -> Any:
        """Send one request and return the decoded answer, None when it is empty.

        Args:
            method: HTTP method.
            path: below the address, with its leading slash; or an address of its own at the same forge.
            query: parameters.
            body: sent as JSON.

        Raises:
            Busy: the same request may work later.
            Gone: there is no such thing, or the token may not see it.
            ForgeError: it will not work.
        """
        url = path if path.startswith("http") else self._address + path
        try:
            answer = self._session.request(
                method, url, params=query, json=body, timeout=_TIMEOUT_SECONDS, allow_redirects=False
            )
        except requests.RequestException as error:
            msg = f"{self._name} cannot be reached at {self._address}: {self._safe(_reason(error))}"
            raise Busy(msg) from None
        if not HTTPStatus.OK <= answer.status_code < HTTPStatus.MULTIPLE_CHOICES:
            raise self._refusal(answer, body)
        return self._decoded(answer)

    def _decoded(self, answer: requests.Response) -> Any:
        try:
            return answer.json() if answer.content else None
        except ValueError:
            raise self._no_api() from None

    def _no_api(self) -> ForgeError:
        return ForgeError(f"{self._name} answered what no API answers; is {self._address} the address of its API?")

    def _refusal(self, answer: requests.Response, body: Any) -> ForgeError:
        """Return what an answer that is no success means, and what to do about it."""
        status, said = answer.status_code, self._safe(_said(answer))
        told = f"{self._name} answered {status}{f' ({said})' if said else ''}"
        if (seconds := _limit_seconds(answer, said)) is not None:
            return Busy(f"{told}: too many requests, and to come back in {seconds:.0f} s", seconds)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
            return Busy(told)
        if status in _NOT_THERE:
            return Gone(f"{told}: there is no such pull request or comment, or the token may not see it")
        if status in _NOT_TAKEN and isinstance(body, dict) and "body" in body:
            size = len(body["body"].encode())
            return ForgeError(f"{told}: it does not take a text of {size:,} bytes; a long one belongs into an artefact")
        remedy = _REMEDIES.get(status, f"is {self._address} the address of its API?")
        return ForgeError(f"{told}: {remedy}")

    def _safe(self, text: str) -> str:
        hidden = text.replace(self._secret, "***") if self._secret else text
        shown = visible(" ".join(hidden.split()))
        return shown if len(shown) <= _QUOTED else f"{shown[:_QUOTED]}..."


def _reason(error: requests.RequestException) -> str:
    """Return the innermost sentence of what went wrong below HTTP."""
    inner: BaseException = error
    while isinstance(found := getattr(inner, "reason", None) or next(iter(inner.args), None), BaseException):
        inner = found
    return str(inner).rpartition(": ")[2] or type(inner).__name__


def _said(answer: requests.Response) -> str:
    """Return the forge's own words, which GitHub and GitLab put under the same name, and sometimes in lists."""
    try:
        found = answer.json()
    except ValueError:
        return ""
    said = (found.get("message") or found.get("error") or "") if isinstance(found, dict) else ""
    return said if isinstance(said, str) else json.dumps(said)


def _limit_seconds(answer: requests.Response, said: str) -> float | None:
    """Return how long a limit asks to wait, None if none was met; GitHub answers with 403 as well as 429."""
    headers, status = answer.headers, answer.status_code
    if status not in (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        return None
    if (after := headers.get("Retry-After")) is not None:
        return float(after) if after.isdigit() else _seconds_until(_moment(after), answer)
    if headers.get("X-RateLimit-Remaining") == "0" and headers.get("X-RateLimit-Reset", "").isdigit():
        reset = dt.datetime.fromtimestamp(int(headers["X-RateLimit-Reset"]), tz=dt.UTC)
        return _seconds_until(reset, answer)
    limited = status == HTTPStatus.TOO_MANY_REQUESTS or _SECONDARY in said.lower()
    return _UNSAID_LIMIT_SECONDS if limited else None


def _seconds_until(moment: dt.datetime | None, answer: requests.Response) -> float:
    """Return the seconds from the forge's own time until ``moment``: this machine's clock may be another."""
    now = _moment(answer.headers.get("Date", ""))
    return max((moment - now).total_seconds(), 1.0) if moment and now else _UNSAID_LIMIT_SECONDS


def _moment(text: str) -> dt.datetime | None:
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None
