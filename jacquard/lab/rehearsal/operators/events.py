"""Warning events of controllers and kubelets."""

import time

from jacquard.lab.rehearsal.operators.view import Object, now


def warning(obj: Object, reason: str, message: str, *, component: str, host: str = "") -> Object:
    """Return a warning event of ``component`` about ``obj``; ``host`` is the node of the component."""
    metadata, moment = obj["metadata"], now()
    place = {"namespace": metadata["namespace"], "name": metadata["name"]}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{time.time_ns():x}", "namespace": metadata["namespace"]},
        "involvedObject": {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "uid": metadata["uid"], **place},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "source": {"component": component, **({"host": host} if host else {})},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }
