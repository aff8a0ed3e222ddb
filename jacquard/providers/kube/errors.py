"""Errors of a Kubernetes API server, its kubeconfig and its connection."""

from dataclasses import dataclass
from typing import Any

from jacquard.providers.errors import ProviderError


@dataclass(frozen=True, slots=True)
class Cause:
    """A detail of a rejection, such as a field that another manager owns."""

    reason: str
    """Reason from the API server, such as ``FieldValueInvalid`` or ``FieldManagerConflict``; may be empty."""
    field: str
    """Path of the field in the notation of the API server; may be empty."""
    message: str


class KubeconfigError(ProviderError):
    """A kubeconfig is missing, unreadable or requires an unsupported feature."""


class KubeconfigMissing(KubeconfigError):  # noqa: N818 - named after the state
    """The kubeconfig does not exist: neither does its cluster, or another machine created the cluster."""

    unreachable = True


class ApiError(ProviderError):
    """An unsuccessful response of the API server.

    Attributes:
        status: HTTP status, 0 without a response.
        reason: Reason from Kubernetes (``NotFound``, ``Conflict``, ``Invalid``...).
        message: Message of the server. The message may contain values of the object; mask secrets before showing the
            message.
        causes: Details by field, empty if the server sent none.
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
        """Return whether the object, its namespace or its kind does not exist."""
        return self.status == 404  # noqa: PLR2004 - HTTP's own number

    @property
    def transient(self) -> bool:
        """Return whether a repeated read may succeed: no response, too many requests, or a server error."""
        return self.status in (0, 429) or self.status >= 500  # noqa: PLR2004 - HTTP's own numbers

    @property
    def undeclared_field(self) -> bool:
        """Return whether a field is not in the kind's schema, which server-side apply reports as status 500."""
        return "field not declared in schema" in self.message

    @property
    def conflicts(self) -> tuple[Cause, ...]:
        """Return the fields owned by other managers, if they are the reason why an apply was rejected."""
        return tuple(cause for cause in self.causes if cause.reason == "FieldManagerConflict")


class KindNotFound(ApiError):  # noqa: N818 - named after the response
    """The API server does not serve a kind: its CRD does not exist (yet)."""

    def __init__(self, api_version: str, kind: str) -> None:
        super().__init__(404, "KindNotFound", f"the API server does not serve {api_version} {kind}")


class Unreachable(ApiError):  # noqa: N818 - named after the state
    """No response: the connection was refused, broke or timed out, or TLS failed."""

    unreachable = True

    def __init__(self, server: str, why: str) -> None:
        super().__init__(0, "Unreachable", f"{server} does not answer: {why}")

    def __str__(self) -> str:
        return self.message


def refusal(status: int, answer: Any) -> ApiError:
    """Return the error of a decoded, unsuccessful response: a Status object, or text from an intermediate server."""
    if not isinstance(answer, dict):
        return ApiError(status, "NoStatus", str(answer or "no reason given").strip())
    details = answer.get("details") or {}
    causes = tuple(
        Cause(str(item.get("reason") or ""), str(item.get("field") or ""), str(item.get("message") or ""))
        for item in details.get("causes") or ()
    )
    return ApiError(status, str(answer.get("reason") or "NoReason"), str(answer.get("message") or ""), causes)
