"""Parsing of YAML into single objects, like the function ``kubernetes:yaml:decode`` of ConfigFile and ConfigGroup.

Scalars are parsed as by the tools of Kubernetes (YAML 1.1 of go-yaml 2): ``yes`` and ``on`` are true, ``0644`` is
octal, but ``1:30`` and dates, which PyYAML parses as numbers and times, are text.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import yaml

from jacquard.providers.errors import ProviderError

FUNCTION = "kubernetes:yaml:decode"

_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|0[0-7_]*|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


class _Loader(yaml.SafeLoader):
    """Parses scalars like go-yaml 2, and keys as text."""

    def scalar(self, node: yaml.ScalarNode) -> Any:
        return _value(node.value) if node.style is None else node.value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        self.flatten_mapping(node)
        return {
            _written(self.construct_object(key, deep=True)): self.construct_object(value, deep=deep)
            for key, value in node.value
        }


_Loader.yaml_implicit_resolvers = {"<": yaml.SafeLoader.yaml_implicit_resolvers["<"]}  # only for merge keys
_Loader.add_constructor("tag:yaml.org,2002:str", _Loader.scalar)


def decode_yaml(text: str, namespace: str, is_namespaced: Callable[[str, str], bool]) -> list[dict[str, Any]]:
    """Return the objects of a YAML text like ``kubernetes:yaml:decode``; other documents are omitted.

    Args:
        text: YAML documents, or JSON.
        namespace: default namespace of objects of namespaced kinds; empty for none.
        is_namespaced: returns whether an apiVersion and a kind are namespaced.

    Raises:
        ProviderError: the text is invalid.
    """
    documents = load(text, f"{FUNCTION}: the text")
    objects = [obj for obj in documents if isinstance(obj, dict) and obj.get("kind") and obj.get("apiVersion")]
    for obj in objects:
        metadata = obj.setdefault("metadata", {}) or {}
        if namespace and not metadata.get("namespace") and is_namespaced(obj["apiVersion"], obj["kind"]):
            obj["metadata"] = {**metadata, "namespace": namespace}
    return objects


def load(text: str, source: str) -> list[Any]:
    """Return all documents of a YAML or JSON text.

    Args:
        text: the text.
        source: name of the text in error messages.

    Raises:
        ProviderError: the text is invalid.
    """
    try:
        return list(yaml.load_all(text, _Loader))
    except yaml.YAMLError as error:
        msg = f"{source} cannot be read: {error}"
        raise ProviderError(msg) from None


def _value(text: str) -> Any:
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.fullmatch(text):
        digits = text.replace("_", "")
        octal = re.fullmatch(r"([-+]?)0([0-7]+)", digits)
        return int(octal[1] + octal[2], 8) if octal else int(digits, 0)
    return float(text) if _FLOAT.fullmatch(text) else text


def _written(key: Any) -> str:
    """Return a key as text, in JSON notation."""
    return key if isinstance(key, str) else json.dumps(key)
