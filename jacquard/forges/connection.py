"""Sends requests to a forge's HTTP API, and converts errors to one-sentence messages. Does not retry.

Redirects are not followed, so that the token is sent to the configured address only.
"""

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import requests

from components.specs.reading.problems import visible
from jacquard.forges.forge import Busy, ForgeError, Gone
from jacquard.machine.http import Token, reason

_TIMEOUT_SECONDS = 30.0
_PAGE = 100
"""Maximum page size of a list of comments."""
_UNSAID_LIMIT_SECONDS = 60.0
"""Waiting time that GitHub recommends after a rate limit without a time."""
_QUOTED = 200
"""Maximum number of characters that are quoted from a forge's message."""
_SECONDARY = "secondary rate limit"
_NOT_THERE = {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
_NOT_TAKEN = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_REMEDIES: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "the token is invalid or expired; give the job a valid token",
    HTTPStatus.FORBIDDEN: "the token may not write comments here, as in a fork; give the job a token with that right",
}


class Connection:
    """An API and its token.

    Args:
        name: display name of the forge.
        address: address of its API, without a trailing slash.
        token: never part of a message, even if the forge repeats it.
        header: name of the header for the token.
        scheme: prefix of the token in that header.
    """

    def __init__(self, name: str, address: str, token: str, *, header: str, scheme: str = "") -> None:
        self._name = name
        self._address = address
        self._secret = token
        self._session = requests.Session()
        self._session.auth = Token(header, f"{scheme}{token}")
        self._session.headers.update({"Accept": "application/json", "User-Agent": "jacquard"})

    def pages(self, path: str, **query: str) -> Iterator[dict[str, Any]]:
        """Yield the entries of all pages of a list, in the order of the forge."""
        page = 1
        while True:
            entries = self.ask("GET", path, query={**query, "per_page": str(_PAGE), "page": str(page)})
            if not isinstance(entries, list):
                raise self._invalid_answer()
            yield from entries
            if len(entries) < _PAGE:
                return
            page += 1

    def ask(self, method: str, path: str, *, query: Mapping[str, str] | None = None, body: Any = None) -> Any:
        """Send a request and return the decoded answer; None if it is empty.

        Args:
            method: HTTP method.
            path: path below the address, with a leading slash; or an absolute address of the same forge.
            query: query parameters.
            body: sent as JSON.

        Raises:
            Busy: the same request may succeed later.
            Gone: the resource does not exist, or the token has no access to it.
            ForgeError: the request cannot succeed.
        """
        url = path if path.startswith("http") else self._address + path
        try:
            answer = self._session.request(
                method, url, params=query, json=body, timeout=_TIMEOUT_SECONDS, allow_redirects=False
            )
        except requests.RequestException as error:
            msg = f"{self._name} cannot be reached at {self._address}: {self._safe(reason(error))}"
            raise Busy(msg) from None
        if not HTTPStatus.OK <= answer.status_code < HTTPStatus.MULTIPLE_CHOICES:
            raise self._refusal(answer, body)
        return self._decoded(answer)

    def _decoded(self, answer: requests.Response) -> Any:
        try:
            return answer.json() if answer.content else None
        except ValueError:
            raise self._invalid_answer() from None

    def _invalid_answer(self) -> ForgeError:
        return ForgeError(f"{self._name} did not answer with JSON; is {self._address} the address of its API?")

    def _refusal(self, answer: requests.Response, body: Any) -> ForgeError:
        """Return the error of an unsuccessful answer, with its remedy."""
        status, quoted = answer.status_code, self._safe(_message(answer))
        failure = f"{self._name} answered {status}{f' ({quoted})' if quoted else ''}"
        if (seconds := _limit_seconds(answer, quoted)) is not None:
            return Busy(f"{failure}: too many requests; retry in {seconds:.0f} s", seconds)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
            return Busy(failure)
        if status in _NOT_THERE:
            return Gone(f"{failure}: the pull request or comment does not exist, or the token has no access to it")
        if status in _NOT_TAKEN and isinstance(body, dict) and "body" in body:
            size = len(body["body"].encode())
            return ForgeError(f"{failure}: a text of {size:,} bytes was rejected; publish long texts as an artefact")
        remedy = _REMEDIES.get(status, f"is {self._address} the address of its API?")
        return ForgeError(f"{failure}: {remedy}")

    def _safe(self, text: str) -> str:
        hidden = text.replace(self._secret, "***") if self._secret else text
        shown = visible(" ".join(hidden.split()))
        return shown if len(shown) <= _QUOTED else f"{shown[:_QUOTED]}..."


def _message(answer: requests.Response) -> str:
    """Return the error message of the forge; GitHub and GitLab use the same key, sometimes with a list."""
    try:
        body = answer.json()
    except ValueError:
        return ""
    message = (body.get("message") or body.get("error") or "") if isinstance(body, dict) else ""
    return message if isinstance(message, str) else json.dumps(message)


def _limit_seconds(answer: requests.Response, message: str) -> float | None:
    """Return the waiting time of a rate limit; None without a limit. GitHub uses status 403 as well as 429."""
    headers, status = answer.headers, answer.status_code
    if status not in (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        return None
    if (after := headers.get("Retry-After")) is not None:
        return float(after) if after.isdigit() else _seconds_until(_moment(after), answer)
    if headers.get("X-RateLimit-Remaining") == "0" and headers.get("X-RateLimit-Reset", "").isdigit():
        reset = dt.datetime.fromtimestamp(int(headers["X-RateLimit-Reset"]), tz=dt.UTC)
        return _seconds_until(reset, answer)
    limited = status == HTTPStatus.TOO_MANY_REQUESTS or _SECONDARY in message.lower()
    return _UNSAID_LIMIT_SECONDS if limited else None


def _seconds_until(moment: dt.datetime | None, answer: requests.Response) -> float:
    """Return the seconds until ``moment`` by the forge's clock, because the local clock may differ."""
    now = _moment(answer.headers.get("Date", ""))
    return max((moment - now).total_seconds(), 1.0) if moment and now else _UNSAID_LIMIT_SECONDS


def _moment(text: str) -> dt.datetime | None:
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None
