"""What a Kubernetes API server, or the way to it, can refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jacquard.providers.errors import ProviderError


@dataclass(frozen=True, slots=True)
class Cause:
    """One detail of a refusal, such as a field that another manager owns."""

    reason: str
    """Word of the API server, such as ``FieldValueInvalid`` or ``FieldManagerConflict``; may be empty."""
    field: str
    """Path of the field as the API server writes it; may be empty."""
    message: str


class KubeconfigError(ProviderError):
    """A kubeconfig that is missing, unreadable or asks for something this client does not do."""


class ApiError(ProviderError):
    """An answer of the API server other than success.

    Attributes:
        status: HTTP status, 0 when there was no answer at all.
        reason: Kubernetes' word for it (``NotFound``, ``Conflict``, ``Invalid``...).
        message: The server's sentence. It may quote values of the object: mask secrets before showing it.
        causes: Details by field, empty when the server gave none.
    """

    def __init__(self, status: int, reason: str, message: str, causes: tuple[Cause, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = causes

    def __str__(self) -> str:
        return f"{self.message} ({self.status} {self.reason})"

    @property
    def not_found(self) -> bool:
        """Return whether the object, its namespace or its kind is not there."""
        return self.status == 404  # noqa: PLR2004 - HTTP's own number

    @property
    def transient(self) -> bool:
        """Return whether the same read may be answered in a moment: no answer, too many requests, a server's fault."""
        return self.status in (0, 429) or self.status >= 500  # noqa: PLR2004 - HTTP's own numbers

    @property
    def undeclared_field(self) -> bool:
        """Return whether a field is unknown to the kind's schema, which server-side apply reports as status 500."""
        return "field not declared in schema" in self.message

    @property
    def conflicts(self) -> tuple[Cause, ...]:
        """Return the fields that other managers own, when that is why an apply was refused."""
        return tuple(cause for cause in self.causes if cause.reason == "FieldManagerConflict")


class KindNotFound(ApiError):  # noqa: N818 - named like the answer it stands for
    """The API server does not serve a kind: its CRD is not there (yet)."""

    def __init__(self, api_version: str, kind: str) -> None:
        super().__init__(404, "KindNotFound", f"the API server does not serve {api_version} {kind}")


class Unreachable(ApiError):  # noqa: N818 - named like the state it reports
    """No answer came: nothing listens, TLS failed, or the connection broke or timed out."""

    def __init__(self, server: str, why: str) -> None:
        super().__init__(0, "Unreachable", f"{server} does not answer: {why}")

    def __str__(self) -> str:
        return self.message


def refusal(status: int, answer: Any) -> ApiError:
    """Return what a decoded answer other than success says: a Status object, or text of whatever stands in between."""
    if not isinstance(answer, dict):
        return ApiError(status, "NoStatus", str(answer or "no reason given").strip())
    details = answer.get("details") or {}
    causes = tuple(
        Cause(str(item.get("reason") or ""), str(item.get("field") or ""), str(item.get("message") or ""))
        for item in details.get("causes") or ()
    )
    return ApiError(status, str(answer.get("reason") or "NoReason"), str(answer.get("message") or ""), causes)
