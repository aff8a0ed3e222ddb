"""Patch resources: some fields of an object that somebody else makes, such as ``kubernetes:core/v1:NodePatch``.

As with the vendor's provider a patch is applied under the resource's own field manager, whoever made the object, and
its end gives the fields back: the object stays. What is not there is made.
"""

from collections.abc import Mapping
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef

_REQUIRED = "FieldValueRequired"


def made_by_it(ref: ObjectRef) -> str:
    """Return what a person should know of a patch whose object is not there."""
    return f"{ref} is not there, so that the patch makes it, and its end will not remove it; see that the name is right"


def give_back(api: ApiServer, ref: ObjectRef, live: Mapping[str, Any], name: str) -> None:
    """Apply an object without fields: those that no other manager has go, or get their defaults.

    Raises:
        ProviderError: one of them is required.
        ApiError: the API server refuses for another reason.
    """
    # With its uid the object is not made when it goes at this moment.
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
            f"{ref}: the patch alone sets {required}, which the object cannot be without; let somebody else set it "
            "first, or give the resource retain_on_delete"
        )
        raise ProviderError(msg) from None
