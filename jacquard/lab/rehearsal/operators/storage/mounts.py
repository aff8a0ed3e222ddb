"""Simulated volume manager of kubelets: a pod starts when the drivers of all its volumes are registered on its node.

Texts are those of K8S:pkg/volume/csi/csi_attacher.go and csi_block.go. Nothing is mounted. As for images, a retry that
fails with the same error is not reported again.
"""

from collections.abc import Iterable, Iterator

from jacquard.lab.rehearsal.operators.events import warning
from jacquard.lab.rehearsal.operators.storage.csi_nodes import is_registered
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

_CLAIM, _VOLUME = ("v1", "PersistentVolumeClaim"), ("v1", "PersistentVolume")
_ERRORS = {
    "Filesystem": (
        "FailedMount",
        "MountVolume.MountDevice",
        "attacher.MountDevice failed to create newCsiDriverClient",
    ),
    "Block": ("FailedMapVolume", "MapVolume.SetUpDevice", "blockMapper.SetUpDevice failed to get CSI client"),
}
"""Reason of the event, failed operation and error of the CSI plugin, by mode of the volume."""


class Mounts:
    """Volumes of the pods of all clusters, with the reported problems."""

    def __init__(self) -> None:
        """Start without reported problems."""
        self._reported: set[tuple[str, str]] = set()
        """UID of the pod and name of the volume."""

    def mounted(self, view: View, pod: Object) -> bool:
        """Return whether all volumes of ``pod`` are mounted on its node; report the other volumes once."""
        node, uid = pod["spec"]["nodeName"], pod["metadata"]["uid"]
        problems = list(unregistered(view, node, _claims(view, pod)))
        for volume in problems:
            name, driver = volume["metadata"]["name"], volume["spec"]["csi"]["driver"]
            if (uid, name) not in self._reported:
                self._reported.add((uid, name))
                reason, operation, error = _ERRORS[volume["spec"].get("volumeMode") or "Filesystem"]
                cause = f"driver name {driver} not found in the list of registered CSI drivers"
                message = f'{operation} failed for volume "{name}" : kubernetes.io/csi: {error}: {cause}'
                view.create(warning(pod, reason, message, component="kubelet", host=node))
        return not problems


def unregistered(view: View, node: str, claims: Iterable[Object]) -> Iterator[Object]:
    """Yield the volumes of bound ``claims`` whose driver is not registered on ``node``."""
    for claim in claims:
        volume = view.find(*_VOLUME, dig(claim, "spec", "volumeName"))
        driver = dig(volume, "spec", "csi", "driver")
        if volume and driver and not is_registered(view, node, driver):
            yield volume


def _claims(view: View, pod: Object) -> Iterator[Object]:
    """Yield the existing claims of a pod."""
    metadata = pod["metadata"]
    for volume in dig(pod, "spec", "volumes") or ():
        own = f"{metadata['name']}-{volume['name']}" if volume.get("ephemeral") else None
        name = own or dig(volume, "persistentVolumeClaim", "claimName")
        claim = view.find(*_CLAIM, name, metadata["namespace"]) if name else None
        if claim:
            yield claim
