"""Events of controllers and kubelets."""

import time

from jacquard.lab.rehearsal.operators.view import Object, now


def warning(obj: Object, reason: str, message: str, *, component: str, host: str = "") -> Object:
    """Return a warning event of ``component`` about ``obj``; ``host`` is the node of the component."""
    return event(obj, "Warning", reason, message, component=component, host=host)


def event(obj: Object, kind: str, reason: str, message: str, *, component: str, host: str = "") -> Object:
    """Return an event of type ``kind``, ``Normal`` or ``Warning``; the other arguments are those of `warning`.

    Events about cluster-scoped objects are in the namespace ``default``.
    """
    metadata, moment = obj["metadata"], now()
    place = {key: metadata[key] for key in ("namespace", "name") if key in metadata}
    namespace = metadata.get("namespace") or "default"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{time.time_ns():x}", "namespace": namespace},
        "involvedObject": {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "uid": metadata["uid"], **place},
        "type": kind,
        "reason": reason,
        "message": message,
        "source": {"component": component, **({"host": host} if host else {})},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }
