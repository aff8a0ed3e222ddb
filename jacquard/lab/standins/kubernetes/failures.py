"""Error messages for users: object, problem, rule and remedy."""

from collections.abc import Mapping
from typing import Any

from jacquard.lab.standins.kubernetes.objects.bodies import PATCH_FORCE, annotation, identity
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, KindNotFound, ObjectRef
from jacquard.providers.ownership import MADE_BY


class PartialFailure(Exception):  # noqa: N818 - named after what it is
    """The object exists, but not in the requested state; the engine must record it.

    Attributes:
        outputs: the current object.
        inputs: the applied inputs.
        reasons: one message for each problem.
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
    """Return the error for an apply that the API server rejected, with a remedy."""
    if error.conflicts:
        fields = "\n".join(f"  {cause.field}: {cause.message}" for cause in error.conflicts)
        return ProviderError(
            f"{ref}: fields set here belong to another field manager:\n{fields}\n"
            f'remove them here, stop the other manager from setting them, or take ownership with {PATCH_FORCE}: "true"'
        )
    return ProviderError(f"{ref}: {error.message.removesuffix('.')}{_remedy(error, urn)}")


def already_there(ref: ObjectRef, live: Mapping[str, Any]) -> ProviderError:
    """Return the error for a create of an object that exists and is not adopted."""
    maker = annotation(live, MADE_BY)
    if maker:
        # The remedy is not `import_`: a renamed resource would adopt the object, and the resource with the old name
        # would delete the object.
        return ProviderError(
            f"{ref} already exists and was created by {maker}; if that is this resource under another name or "
            "apiVersion, add the other one as an alias; otherwise choose another name"
        )
    return ProviderError(
        f"{ref} already exists and was not created by this resource; adopt it with the resource option "
        f"import_='{identity(live)}', delete it, or choose another name"
    )


def unreachable(error: Exception, doing: str) -> ProviderError:
    """Return the error for an object of an unreachable cluster; the object stays in the state."""
    return ProviderError(
        f"{doing}: {error}; the object stays in the state. If the cluster no longer exists, set deleteUnreachable "
        "on the provider to remove its objects from the state"
    )


def _remedy(error: ApiError, urn: str) -> str:
    if isinstance(error, KindNotFound):
        return "; apply its CustomResourceDefinition first, and make this resource depend on it"
    if error.not_found:
        return "; create the namespace first, and make this resource depend on it"
    if error.undeclared_field:
        return "; correct the spelling of the field, or remove it"
    if "immutable" in error.message or "are forbidden" in error.message:
        return f"; the field cannot be changed in place: replace the object with `pulumi up --replace '{urn}'`"
    return ""
