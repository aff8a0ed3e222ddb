"""Images that kubelets cannot pull, from the status of pending pods."""

import re
from collections.abc import Iterable

from components.specs.struct import Struct
from jacquard.observe.objects import Kind, Object, key
from jacquard.providers.kube.objects import dig

PENDING_PODS: Kind = ("v1", "Pod")
"""Kind of the pods, which are read only while they are pending."""
_REASONS = {"ErrImagePull", "ImagePullBackOff"}
_CAUSE = re.compile(r'failed to resolve reference "[^"]*": (.*)', re.DOTALL)
"""Part of containerd's error that contains the URL and the cause."""


class FailedPull(Struct, kw_only=False):
    """An image that a pod waits for."""

    pod: str
    """Namespace and name."""
    node: str
    image: str
    cause: str


def failed_pulls(pods: Iterable[Object]) -> list[FailedPull]:
    """Return the images that ``pods`` wait for because their kubelets cannot pull them."""
    return [
        FailedPull("/".join(key(pod)), str(dig(pod, "spec", "nodeName")), str(status.get("image")), _cause(waiting))
        for pod in pods
        for field in ("initContainerStatuses", "containerStatuses")
        for status in dig(pod, "status", field) or ()
        if (waiting := dig(status, "state", "waiting") or {}).get("reason") in _REASONS
    ]


def texts(pulls: Iterable[FailedPull]) -> list[str]:
    """Return one line for each image and cause, which names one of the pods."""
    pods: dict[tuple[str, str], list[str]] = {}
    for pull in pulls:
        pods.setdefault((pull.image, pull.cause), []).append(pull.pod)
    return [
        f"{names[0]}{f' and {len(names) - 1} more pods' if len(names) > 1 else ''} cannot pull {image}: {cause}"
        for (image, cause), names in pods.items()
    ]


def _cause(waiting: Object) -> str:
    message = " ".join(str(waiting.get("message") or waiting["reason"]).split())
    match = _CAUSE.search(message)
    return match[1] if match else message
