"""YAML that programs read through the kubernetes stand-in."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.objects.documents import FUNCTION, decode_yaml
from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import decode, encode

FILE = """
# nothing but this comment
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, labels: &labels {of: b}}
data: &data {x: "1"}
---
kind: Loom
apiVersion: toy.dev/v1
metadata:
  name: c
  labels: {<<: *labels, more: d}
"""


def loaded(text: str) -> Any:
    [found] = decode_yaml(f"{{apiVersion: v1, kind: X, v: {text}}}", "", lambda *_: True)
    return found["v"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("Off", False),
        ("n", False),
        ("'yes'", "yes"),
        ("~", None),
        ("0644", 420),
        ("0o644", 420),
        ("0x1F", 31),
        ("-12", -12),
        ("1_000", 1000),
        ("'0644'", "0644"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("1:30", "1:30"),
        ("2026-11-22", "2026-11-22"),
        ("v1.2", "v1.2"),
        ("1.2.3", "1.2.3"),
        ("{1: a, yes: b, 1.5: c, ~: d}", {"1": "a", "true": "b", "1.5": "c", "null": "d"}),
    ],
)
def test_scalars_are_read_as_kubernetes_reads_them(text: str, value: Any) -> None:
    assert loaded(text) == value
    assert type(loaded(text)) is type(value)


def test_documents_without_an_object_are_skipped_and_missing_namespaces_are_set() -> None:
    text = FILE.split("---\nkind: Loom", maxsplit=1)[0] + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: c}}"

    found = decode_yaml(text, "toy", lambda _, kind: kind == "ConfigMap")

    assert [one["metadata"] for one in found] == [
        {"name": "a", "labels": {"of": "b"}, "namespace": "toy"},
        {"name": "c"},
    ]


def test_text_that_is_no_yaml_is_refused_with_its_place() -> None:
    with pytest.raises(
        ProviderError, match=r"(?s)^kubernetes:yaml:decode: the text cannot be read: .*line 1, column 5"
    ):
        decode_yaml("a: b: c", "", lambda *_: True)


def test_programs_get_it_by_the_function_of_the_vendors(kube: Any, api_server: Any) -> None:
    del api_server
    text = FILE.replace("<<: *labels, ", "")
    request = provider_pb2.InvokeRequest(tok=FUNCTION, args=encode({"text": text, "defaultNamespace": "toy"}))

    answer = kube.provider.Invoke(request, None)

    found = decode(getattr(answer, "return")).plain["result"]
    assert [(one["kind"], one["metadata"]["namespace"]) for one in found] == [("ConfigMap", "toy"), ("Loom", "toy")]
