"""Queries of the metrics store of a region, by the HTTP API of Prometheus, with one-sentence messages for errors.

Redirects are not followed, so that the password is sent to the requested address only. VictoriaMetrics and Prometheus
answer with the data that they could read and mark them: ``isPartial`` (VM:app/vmselect/prometheus, cluster version) and
``warnings`` (prometheus.io/docs/prometheus/latest/querying/api). Such answers are rejected, because their counts are
too low.
"""

import datetime as dt
from collections.abc import Iterator
from http import HTTPStatus
from typing import Literal
from urllib.parse import urlsplit

import requests
from pydantic import BaseModel, Field, ValidationError

from components.specs.reading.problems import first_violation, shown, visible
from jacquard.machine import settings
from jacquard.machine.http import is_this_machine, reason

EXAMPLE = "http://127.0.0.1:8481/select/0/prometheus"
"""Address of the store of a region, if its port 8481 is forwarded."""
_TIMEOUT_SECONDS = 60.0
_QUOTED = 200
"""Maximum number of characters that are quoted from an answer."""
_NOT_PERMITTED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class MetricsError(Exception):
    """The store did not answer a query; the text contains the reason and the remedy."""


class _Series(BaseModel):
    metric: dict[str, str]
    value: tuple[float, float] | None = None
    values: tuple[tuple[float, float], ...] = ()


class _Data(BaseModel):
    kind: Literal["vector", "matrix"] = Field(alias="resultType")
    result: tuple[_Series, ...]


class _Answer(BaseModel):
    status: Literal["success"]
    data: _Data
    partial: bool = Field(default=False, alias="isPartial")
    warnings: tuple[str, ...] = ()


def address_problem(url: str) -> str | None:
    """Return the reason why ``url`` is not an address of a store; None for an address."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        valid, parts = None, urlsplit("")
    if "@" in url:
        return f"must not contain a login; set {settings.METRICS_USER} and {settings.METRICS_PASSWORD} instead"
    if not valid or parts.query or parts.fragment:
        return f"must be the address of a Prometheus API (got {shown(url)}); write it like {EXAMPLE}"
    return None


class MetricsStore:
    """A Prometheus API at an address without ``/api/v1``.

    Args:
        url: address for which `address_problem` returns None.
        login: user and password; None to send none. The password is never part of a message.

    Raises:
        MetricsError: the password would be sent without encryption.
    """

    def __init__(self, url: str, login: tuple[str, str] | None) -> None:
        self._url = url.rstrip("/")
        self._password = login[1] if login else ""
        self._session = requests.Session()
        self._session.auth = login or (lambda request: request)  # otherwise requests sends a login of .netrc
        self._session.headers.update({"Accept": "application/json", "User-Agent": "jacquard"})
        parts = urlsplit(url)
        host = parts.hostname or ""
        self._proxies = {"no_proxy": host} if is_this_machine(host) else {}
        if login and parts.scheme == "http" and not self._proxies:
            msg = f"{self._name} would get the password without encryption; write https://"
            raise MetricsError(msg)

    def values(self, expression: str, at: dt.datetime) -> Iterator[tuple[dict[str, str], float]]:
        """Yield labels and value of each series of ``expression`` at one time.

        Raises:
            MetricsError: there is no complete answer.
        """
        for series in self._ask("query", query=expression, time=f"{at.timestamp():.0f}"):
            if series.value is not None:
                yield series.metric, series.value[1]

    def times(
        self, expression: str, start: dt.datetime, end: dt.datetime, step_seconds: int
    ) -> Iterator[tuple[dict[str, str], list[float]]]:
        """Yield labels and Unix times of the values of each series of ``expression``, one value per step.

        Raises:
            MetricsError: there is no complete answer.
        """
        limits = {"start": f"{start.timestamp():.0f}", "end": f"{end.timestamp():.0f}", "step": f"{step_seconds}"}
        for series in self._ask("query_range", query=expression, **limits):
            yield series.metric, [moment for moment, _ in series.values]

    @property
    def _name(self) -> str:
        return f"the metrics store at {visible(self._url)}"

    def _ask(self, path: str, **form: str) -> tuple[_Series, ...]:
        try:
            answer = self._session.post(
                f"{self._url}/api/v1/{path}",
                data=form,
                timeout=_TIMEOUT_SECONDS,
                allow_redirects=False,
                proxies=self._proxies,
            )
        except requests.exceptions.SSLError as error:
            remedy = "set REQUESTS_CA_BUNDLE to a file with the certificate of its CA"
            msg = f"{self._name} has no trusted certificate ({self._quoted(reason(error))}); {remedy}"
            raise MetricsError(msg) from None
        except OSError as error:  # of requests too; a missing REQUESTS_CA_BUNDLE is not a RequestException
            remedy = "start the port forwarding, or correct the address"
            msg = f"{self._name} cannot be reached ({self._quoted(reason(error))}); {remedy}"
            raise MetricsError(msg) from None
        return self._series(answer)

    def _series(self, answer: requests.Response) -> tuple[_Series, ...]:
        if answer.status_code in _NOT_PERMITTED:
            remedy = (
                f"set {settings.METRICS_USER} and {settings.METRICS_PASSWORD} to a login that may query all clusters"
            )
            msg = f"{self._name} answered {answer.status_code}; {remedy}"
            raise MetricsError(msg)
        if answer.status_code != HTTPStatus.OK:
            text = self._quoted(answer.text)
            msg = f"{self._name} answered {answer.status_code}{f' ({text})' if text else ''}; {self._is_address}"
            raise MetricsError(msg)
        try:
            found = _Answer.model_validate_json(answer.content)
        except ValidationError as error:
            violation = self._quoted(first_violation(error).removeprefix(": "))
            msg = f"{self._name} did not answer like a Prometheus API ({violation}); {self._is_address}"
            raise MetricsError(msg) from None
        if found.partial or found.warnings:
            why = self._quoted(", ".join(found.warnings)) or "isPartial"
            msg = f"{self._name} answered with a part of the data ({why}); retry when all of its pods are available"
            raise MetricsError(msg)
        return found.data.result

    @property
    def _is_address(self) -> str:
        return f"correct the address, which is like {EXAMPLE} for the store of a region"

    def _quoted(self, text: str) -> str:
        hidden = text.replace(self._password, "***") if self._password else text
        short = visible(" ".join(hidden.split()))
        return short if len(short) <= _QUOTED else f"{short[:_QUOTED]}..."
