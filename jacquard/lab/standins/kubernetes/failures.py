"""Failures in the user's words: what, where, the rule, the remedy."""

from collections.abc import Mapping
from typing import Any

from jacquard.lab.standins.kubernetes.objects.bodies import PATCH_FORCE, annotation, identity
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, KindNotFound, ObjectRef
from jacquard.providers.ownership import MADE_BY


class PartialFailure(Exception):  # noqa: N818 - named like what it is
    """The object is there, but not in the state that was asked for; the engine's state must keep it.

    Attributes:
        outputs: the object as it is.
        inputs: the inputs that it was applied from.
        reasons: what is wrong, one sentence each.
    """

    def __init__(
        self, message: str, *, identity: str, outputs: Mapping[str, Any], inputs: Mapping[str, Any], reasons: list[str]
    ) -> None:
        super().__init__(message)
        self.identity = identity
        self.outputs = outputs
        self.inputs = inputs
        self.reasons = reasons


def refused(error: ApiError, ref: ObjectRef, urn: str) -> ProviderError:
    """Return what the API server's refusal of an apply means, and what to do."""
    if error.conflicts:
        fields = "\n".join(f"  {cause.field}: {cause.message}" for cause in error.conflicts)
        return ProviderError(
            f"{ref}: fields set here belong to another field manager:\n{fields}\n"
            f'leave them out here, stop the other from setting them, or take them over with {PATCH_FORCE}: "true"'
        )
    return ProviderError(f"{ref}: {error.message.removesuffix('.')}{_remedy(error, urn)}")


def already_there(ref: ObjectRef, found: Mapping[str, Any]) -> ProviderError:
    """Return why an object that exists is not taken over by a create."""
    maker = annotation(found, MADE_BY)
    if maker:
        # Not import_: a resource that was only renamed would adopt the object, and its former self then delete it.
        return ProviderError(
            f"{ref} already exists and was made by {maker}, so it is left alone; if that is this resource under "
            "another name or apiVersion, give it that one as an alias; else choose another name"
        )
    return ProviderError(
        f"{ref} already exists and was not made by this resource, so it is left alone; adopt it with the resource "
        f"option import_='{identity(found)}', or delete it, or choose another name"
    )


def unreachable(error: Exception, doing: str) -> ProviderError:
    """Return why an object of the state could not be handled, and that the state still has it."""
    return ProviderError(
        f"{doing}: {error}; the state keeps the object. When the cluster is gone for good, set deleteUnreachable "
        "on the provider to drop its objects from the state"
    )


def _remedy(error: ApiError, urn: str) -> str:
    if isinstance(error, KindNotFound):
        return "; apply its CustomResourceDefinition first, and let this resource depend on it"
    if error.not_found:
        return "; create the namespace first, and let this resource depend on it"
    if error.undeclared_field:
        return "; correct the spelling of the field, or take it out"
    if "immutable" in error.message or "are forbidden" in error.message:
        return f"; the field cannot change in place: replace the object with `pulumi up --replace '{urn}'`"
    return ""
