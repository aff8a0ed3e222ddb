"""Package schema of the provider: its resource and its settings."""

import json
from importlib.metadata import version
from typing import Any

from jacquard.providers.objectset.config import KEYS
from jacquard.providers.objectset.inputs import UID_DIGITS

TYPE = "jacquard:index:ObjectSet"
_TEXT = {"type": "string"}
_OBJECTS = {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}


def plugin_version() -> str:
    """Return the version of the installed package."""
    return version("jacquard")


def schema() -> str:
    """Return the Pulumi package schema as JSON."""
    config: dict[str, Any] = {key: {**_TEXT, "description": text} for key, text in KEYS.items()}
    place = {
        "setName": {**_TEXT, "description": "name of the set and of its parent ConfigMap; a change replaces"},
        "namespace": {**_TEXT, "description": "namespace of the parent ConfigMap; a change replaces"},
    }
    members = {**_OBJECTS, "description": "complete Kubernetes objects by a stable key"}
    patches = {
        **_OBJECTS,
        "description": "fields of objects that other controllers create, by a stable key: apiVersion, kind, names, and "
        "fields, which are applied to each existing object; none is created or deleted. namespace for namespaced "
        "kinds; waitSeconds for objects that are expected soon; unless, a part of an object that "
        "makes the patch unnecessary; madeOf, whose change means that objects are recreated",
    }
    waiting = {"type": "array", "items": _TEXT, "description": "objects of patches that do not have their fields yet"}
    cluster = {
        **_TEXT,
        "description": "uid of the cluster's namespace kube-system, which identifies the cluster",
    }
    uids = {**_TEXTS, "description": f"first {UID_DIGITS} digits of the uid of each object by its key"}
    return json.dumps(
        {
            "name": "jacquard",
            "version": plugin_version(),
            "description": "Sets of Kubernetes objects that are one resource",
            "provider": {"inputProperties": config, "requiredInputs": ["kubeconfig", "clusterIdentifier"]},
            "resources": {
                TYPE: {
                    "description": "Objects applied in parallel, identified and pruned by ApplySet labels",
                    "inputProperties": {**place, "members": members, "patches": patches},
                    "requiredInputs": ["setName", "namespace", "members"],
                    "properties": {**place, "cluster": cluster, "uids": uids, "waiting": waiting},
                    "required": ["setName", "namespace", "cluster", "uids"],
                }
            },
        }
    )
