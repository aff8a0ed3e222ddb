"""Patch resources: single fields of an object of another owner, such as ``kubernetes:core/v1:NodePatch``.

As in the vendor's provider, a patch is applied with the resource's own field manager. Deleting the patch releases the
fields, and the object remains. A patch of a missing object creates it.
"""

from collections.abc import Mapping
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef

_REQUIRED = "FieldValueRequired"


def made_by_it(ref: ObjectRef) -> str:
    """Return the warning for a patch of a missing object."""
    return f"{ref} does not exist: the patch creates it, and deleting the patch will not delete it; check the name"


def give_back(api: ApiServer, ref: ObjectRef, live: Mapping[str, Any], name: str) -> None:
    """Apply an object without fields: fields without another manager are removed or get their defaults.

    Raises:
        ProviderError: such a field is required.
        ApiError: the API server rejects the apply for another reason.
    """
    # With the uid, the apply cannot recreate an object that was just deleted.
    metadata = {"name": ref.name, "uid": live["metadata"]["uid"]}
    metadata |= {"namespace": ref.namespace} if ref.namespace else {}
    body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata}
    try:
        api.apply(body, field_manager=name)
    except ApiError as error:
        required = ", ".join(cause.field for cause in error.causes if cause.reason == _REQUIRED)
        if not required:
            raise
        msg = (
            f"{ref}: only this patch sets {required}, which the object requires; set it with another manager first, or "
            "use the resource option retain_on_delete"
        )
        raise ProviderError(msg) from None
