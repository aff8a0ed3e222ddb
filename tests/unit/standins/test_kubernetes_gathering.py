"""Objects of the kubernetes stand-in's components, and the order of their creation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.objects.gathering import CONFIG_FILE, CONFIG_GROUP, complete, gather
from jacquard.lab.standins.kubernetes.objects.ordering import DEPENDS_ON, dependencies
from jacquard.providers.errors import ProviderError

LISTED = """
# a comment, and nothing else
---
{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}
---
"""


def config_map(name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    (tmp_path / "b.yaml").write_text(LISTED)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_files_patterns_texts_and_plain_objects_are_read_in_this_order_and_lists_opened() -> None:
    given = {"files": ["b.yaml", "[a-b].yaml"], "yaml": LISTED.replace(": b", ": c"), "objs": [config_map("d")]}

    assert [one["metadata"]["name"] for one in gather(CONFIG_GROUP, given)] == ["b", "a", "b", "c", "d"]
    assert gather(CONFIG_FILE, {"file": "a.yaml"}) == [config_map("a")]
    assert gather(CONFIG_GROUP, {}) == []


def test_every_unreadable_file_is_reported(folder: Path) -> None:
    (folder / "c.yaml").write_bytes(b"\xff")
    given = {"files": ["a.yaml", "missing.yaml", "nothing-*.yaml", "c.yaml", "http://127.0.0.1:1/x.yaml"]}

    with pytest.raises(ProviderError) as error:
        gather(CONFIG_GROUP, given)

    assert str(error.value).splitlines() == [
        "'missing.yaml' cannot be read: No such file or directory",
        "'nothing-*.yaml' cannot be read: No such file or directory",
        "'c.yaml' cannot be read: it is not UTF-8 text",
        "'http://127.0.0.1:1/x.yaml' cannot be read: Connection refused",
    ]


def test_every_invalid_object_is_reported() -> None:
    given = {
        "yaml": "a text\n---\n[a, list]\n---\n{apiVersion: v1, kind: ConfigMap}\n---\n{a: map}",
        "objs": [config_map("a"), {"kind": "Loom", "metadata": {"name": "b"}}],
    }

    with pytest.raises(ProviderError) as error:
        gather(CONFIG_GROUP, given)

    needs = "must have apiVersion, kind and metadata.name"
    assert str(error.value).splitlines() == [
        f"object 1 (a str): {needs}",
        f"object 2 (a list): {needs}",
        f"object 3 (v1 ConfigMap): {needs}",
        f"object 4 (none of them): {needs}",
        f"object 6 (Loom b): {needs}",
    ]


def test_invalid_yaml_is_reported_with_its_file(folder: Path) -> None:
    (folder / "a.yaml").write_text("a: b: c")

    with pytest.raises(ProviderError, match=r"(?s)^'a.yaml' cannot be read: .*line 1, column 5"):
        gather(CONFIG_FILE, {"file": "a.yaml"})


def test_a_namespace_is_only_set_if_it_is_known_to_be_missing() -> None:
    scopes = {"ConfigMap": True, "Node": False}
    objects = [
        config_map("a"),
        config_map("b", namespace="own"),
        {**config_map("c"), "apiVersion": "core/v1", "kind": "Node"},
        {**config_map("d"), "apiVersion": "toy.dev/v1", "kind": "Loom"},
    ]

    found, unknown = complete(objects, "mill", lambda _, kind: scopes.get(kind))

    assert [(one["apiVersion"], one["metadata"].get("namespace")) for one in found] == [
        ("v1", "mill"),
        ("v1", "own"),
        ("v1", None),
        ("toy.dev/v1", None),
    ]
    assert unknown == ["toy.dev/v1 Loom"]
    assert objects[0] == config_map("a")


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mill"}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "looms.toy.dev"},
    "spec": {"group": "toy.dev", "names": {"kind": "Loom"}},
}


def order(*objects: dict[str, Any]) -> dict[str, set[str]]:
    return {str(name): {str(other) for other in before} for name, before in dependencies(objects).items()}


def test_namespaces_and_kinds_precede_their_objects_and_others_follow_annotations() -> None:
    loom = {"apiVersion": "toy.dev/v1", "kind": "Loom", "metadata": {"name": "a", "namespace": "mill"}}
    after = {DEPENDS_ON: "/namespaces/mill/ConfigMap/b, toy.dev/namespaces/mill/Loom/a,/Namespace/mill"}

    assert order(
        config_map("c", annotations=after), config_map("b", namespace="mill"), loom, DEFINITION, NAMESPACE
    ) == {
        "ConfigMap c": {"ConfigMap mill/b", "Loom mill/a", "Namespace mill"},
        "ConfigMap mill/b": {"Namespace mill"},
        "Loom mill/a": {"Namespace mill", "CustomResourceDefinition looms.toy.dev"},
        "CustomResourceDefinition looms.toy.dev": set(),
        "Namespace mill": set(),
    }


def test_unorderable_objects_are_reported_together() -> None:
    bad = {DEPENDS_ON: "ConfigMap/b,/namespaces/mill/ConfigMap/x"}

    with pytest.raises(ProviderError) as error:
        order(config_map("a", annotations=bad), config_map("b"), config_map("b"))

    assert str(error.value).splitlines() == [
        "ConfigMap b is listed twice",
        f"ConfigMap a: {DEPENDS_ON} 'ConfigMap/b' must be GROUP/KIND/NAME or GROUP/namespaces/NAMESPACE/KIND/NAME",
        f"ConfigMap a: {DEPENDS_ON} '/namespaces/mill/ConfigMap/x' matches none of the other objects",
    ]


def test_a_cycle_is_reported() -> None:
    with pytest.raises(ProviderError) as error:
        order(
            config_map("a", annotations={DEPENDS_ON: "/ConfigMap/b"}),
            config_map("b", annotations={DEPENDS_ON: "/ConfigMap/a"}),
        )

    assert str(error.value) == "dependency cycle: ConfigMap a, ConfigMap b, ConfigMap a"
