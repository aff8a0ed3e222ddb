"""Explains failures of members, with a remedy for the user."""

import re
from collections.abc import Iterable

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, Cause, KindNotFound
from jacquard.providers.objectset.inputs import Identity

TAKE_FIELDS_FROM = "JACQUARD_TAKE_FIELDS_FROM"
"""Environment variable with field managers, separated by commas, whose fields a single run takes over."""
_MANAGER = re.compile(r'conflict with "([^"]*)"')
_UNDECLARED = re.compile(r"(\S+): field not declared in schema")


def explain(identity: Identity, error: ProviderError) -> str:
    """Return a sentence with the object, the message of the server, and the remedy if it is known."""
    return f"{identity}: {_reason(error)}"


def changed_meanwhile(identity: Identity, what: str) -> str:
    """Return the message for an object that changed after it was read; ``what`` is the cancelled operation."""
    return f"{identity}: changed after it was read, so it was not {what}; run again"


def managers(conflicts: Iterable[Cause]) -> frozenset[str]:
    """Return the field managers in conflict with a rejected apply."""
    return frozenset(_manager(cause.message) for cause in conflicts)


def owned_fields(conflicts: Iterable[Cause]) -> str:
    """Return the fields in conflict, each with its manager."""
    return ", ".join(f"{cause.field} ('{_manager(cause.message)}')" for cause in conflicts)


def _reason(error: ProviderError) -> str:
    if not isinstance(error, ApiError):
        return str(error)
    if isinstance(error, KindNotFound):
        return f"{error.message}; install its CRD first"
    if error.conflicts:
        names = ",".join(sorted(managers(error.conflicts)))
        return (
            f"fields belong to other managers: {owned_fields(error.conflicts)}; remove them from the program or from "
            f"that manager, or take them over in one run with {TAKE_FIELDS_FROM}={names}"
        )
    if error.undeclared_field:
        fields = ", ".join(dict.fromkeys(_UNDECLARED.findall(error.message))) or error.message
        return f"{fields} is not declared in the schema of this kind; correct or remove the field"
    return str(error)


def _manager(message: str) -> str:
    match = _MANAGER.search(message)
    return match.group(1) if match else message
