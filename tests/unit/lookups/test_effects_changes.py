"""Changes between two sets of objects, and the effect of each change by the table."""

from __future__ import annotations

from typing import Any

import pytest

from components.lookups.effects.changes import Change, changes, worst
from components.lookups.effects.effect import Effect, When
from components.render.manifest import Json, Manifest
from components.render.region.controllers import object_metrics
from tests.support.changes.pool_effects import effect_on_nodes

FLAVOR = "provisioning.dpu.nvidia.com/v1alpha1", "DPUFlavor"
DEPLOYMENT = "svc.dpu.nvidia.com/v1alpha1", "DPUDeployment"
GROUP = "cluster.x-k8s.io/v1beta2", "MachineDeployment"
STORE = "operator.victoriametrics.com/v1beta1", "VMCluster"
UNHEARD = "acme.example/v1", "Gadget"


def thing(
    kind: tuple[str, str], name: str = "one", *, retain: bool = False, protect: bool = False, **rest: Any
) -> Manifest:
    """Return an object."""
    body = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": name, "namespace": "there"}, **rest}
    return Manifest(body=body, retain=retain, protect=protect)


def labelled(kind: tuple[str, str], **labels: str) -> Manifest:
    """Return an object that only has labels."""
    metadata = {"name": "one", "namespace": "there", "labels": labels}
    return Manifest(body={"apiVersion": kind[0], "kind": kind[1], "metadata": metadata})


def found(before: Json, after: Json, kind: tuple[str, str] = GROUP) -> dict[str, Effect]:
    """Return the effects of a change of the spec, by path."""
    both = ([thing(kind, spec=spec)] for spec in (before, after))
    return {change.path: change.effect for change in changes(*both)}


def only(seen: list[Change]) -> Change:
    """Return the only change."""
    [change] = seen
    return change


def test_equal_objects_change_nothing() -> None:
    assert list(changes([thing(GROUP, spec={"replicas": 2})], [thing(GROUP, spec={"replicas": 2})])) == []
    assert worst([]) is Effect.NONE


def test_a_change_has_an_effect_and_a_reason() -> None:
    before, after = ([thing(GROUP, spec={"replicas": count})] for count in (2, 3))

    change = only(list(changes(before, after)))

    assert (change.manifest, change.kind, change.path, change.old, change.new) == (
        after[0],
        "cluster.x-k8s.io/MachineDeployment",
        "spec.replicas",
        2,
        3,
    )
    assert change.effect is Effect.SCALES
    assert change.row
    assert (change.row.falls_on, change.row.when) == ("nodes", When.AT_ONCE)
    assert change.row.source == "CAPI:internal/controllers/machinedeployment/machinedeployment_sync.go"


def test_all_changes_of_an_unregistered_kind_are_unknown() -> None:
    one, other = thing(UNHEARD, spec={"a": 1}), thing(UNHEARD, spec={"a": 2})

    for before, after, path in (([], [one], "created"), ([one], [other], "spec.a"), ([one], [], "deleted")):
        change = only(list(changes(before, after)))
        assert (change.path, change.effect, change.row) == (path, Effect.UNKNOWN, None)
        assert effect_on_nodes(before, after) is Effect.UNKNOWN
    assert effect_on_nodes([thing(UNHEARD, retain=True)], []) is Effect.UNKNOWN


def test_an_unregistered_field_is_unknown() -> None:
    assert found({}, {"gadgets": 1}) == {"spec.gadgets": Effect.UNKNOWN}
    assert found({}, {"template": {"spec": {"gadget": {"a": 1}}}}) == {"spec.template.spec.gadget.a": Effect.UNKNOWN}
    before, after = labelled(GROUP), labelled(GROUP, **{"acme.example/gadget": "yes"})
    assert only(list(changes([before], [after]))).effect is Effect.UNKNOWN


def test_a_new_flavor_does_nothing_and_the_deployment_that_names_it_flashes() -> None:
    def deployment(flavor: str) -> Manifest:
        return thing(DEPLOYMENT, spec={"dpus": {"bfb": "b", "flavor": flavor}})

    one, two = thing(FLAVOR, "f1", retain=True, spec={"a": 1}), thing(FLAVOR, "f2", retain=True, spec={"a": 2})
    seen = list(changes([one, deployment("f1")], [two, deployment("f2")]))

    assert [(change.manifest.name, change.path, change.effect) for change in seen] == [
        ("f2", "created", Effect.NONE),
        ("one", "spec.dpus.flavor", Effect.RE_FLASHED),
        ("f1", "retained", Effect.NONE),
    ]
    assert worst(seen) is Effect.RE_FLASHED
    assert found({"a": 1}, {"a": 2}, FLAVOR) == {"spec.a": Effect.REFUSED}


@pytest.mark.parametrize(
    ("manifest", "path", "word"),
    [
        (thing(GROUP), "deleted", Effect.DELETED),
        (thing(GROUP, retain=True), "retained", Effect.NONE),
        (thing(GROUP, protect=True), "protected", Effect.REFUSED),
        (thing(GROUP, retain=True, protect=True), "protected", Effect.REFUSED),
    ],
)
def test_removed_objects_are_deleted_retained_or_protected(manifest: Manifest, path: str, word: Effect) -> None:
    change = only(list(changes([manifest], [])))

    assert (change.path, change.effect) == (path, word)


def test_an_object_elsewhere_is_another_one_and_under_another_version_the_same() -> None:
    before = thing(GROUP)
    other = Manifest(body=before.body, cluster="tenant")
    older = thing(("cluster.x-k8s.io/v1beta1", "MachineDeployment"))

    assert [change.path for change in changes([before], [other])] == ["created", "deleted"]
    assert [(change.path, change.effect) for change in changes([older], [before])] == [("apiVersion", Effect.UNKNOWN)]


def test_values_are_compared_down_to_the_last_one() -> None:
    before = {"a": {"b": 1, "c": {}}, "texts": ["x"], "gone": {"d": [{"e": 1}]}, "kind": {"was": "mapping"}}
    after = {"a": {"b": 2}, "texts": ["x", "y"], "come": {}, "kind": "text"}

    assert list(found(before, after)) == [
        "spec.a.b",
        "spec.a.c",
        "spec.texts",
        "spec.gone.d.0.e",
        "spec.kind",
        "spec.come",
    ]


def test_entries_of_lists_are_matched_by_name_and_else_by_place() -> None:
    one, two, new = {"name": "one", "v": 1}, {"name": "two", "v": 2}, {"name": "a.b", "v": 3}
    moved = {"name": "two", "v": 4}

    assert list(found({"l": [one, two]}, {"l": [new, moved, one]})) == [
        "spec.l.two.v",
        "spec.l[a.b].name",
        "spec.l[a.b].v",
    ]
    assert list(found({"l": [one, two]}, {"l": [two, one]})) == ["spec.l"]
    assert list(found({"l": [{"v": 1}, {"v": 2}]}, {"l": [{"v": 2}]})) == ["spec.l.0.v", "spec.l.1.v"]
    assert list(found({"l": []}, {"l": [one]})) == ["spec.l.one.name", "spec.l.one.v"]


def test_a_moment_counts_by_its_direction() -> None:
    early, late = ({"rollout": {"after": f"2026-12-0{day}T02:00:00Z"}} for day in (1, 2))

    assert found({}, early) == found(early, late) == {"spec.rollout.after": Effect.REPLACED}
    assert found(late, early) == found(early, {}) == {"spec.rollout.after": Effect.IN_PLACE}


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("90d", "60d", Effect.DELETED),
        ("9d", "10d", Effect.RESTARTED),
        ("90d", "2y", Effect.RESTARTED),
        (None, "60d", Effect.RESTARTED),
    ],
)
def test_a_number_counts_by_its_direction(old: str | None, new: str, effect: Effect) -> None:
    before, after = ({"retentionPeriod": value} if value else {} for value in (old, new))

    assert found(before, after, STORE) == {"spec.retentionPeriod": effect}


def test_removed_storage_pods_lose_their_data() -> None:
    few, many = ({"vmstorage": {"replicaCount": count}} for count in (9, 12))

    assert found(many, few, STORE) == {"spec.vmstorage.replicaCount": Effect.DELETED}
    assert found(few, many, STORE) == {"spec.vmstorage.replicaCount": Effect.IN_PLACE}


def test_the_worst_effect_of_a_pool_separates_changed_groups_from_kept_ones() -> None:
    one, two = thing(GROUP, "one", spec={"replicas": 2}), thing(GROUP, "two", spec={"replicas": 2})
    more = thing(GROUP, "one", spec={"replicas": 3})

    assert effect_on_nodes([one], [two]) is Effect.REPLACED
    assert (
        effect_on_nodes([one], [one, two])
        is effect_on_nodes([one, two], [one])
        is effect_on_nodes([], [one])
        is Effect.SCALES
    )
    assert effect_on_nodes([one, two], [more]) is Effect.SCALES
    assert effect_on_nodes([one, two], []) is Effect.DELETED
    assert effect_on_nodes([one], [one]) is Effect.NONE


def test_unknown_is_worse_than_all_known_effects() -> None:
    assert [word for word in Effect if word.severity > Effect.DELETED.severity] == [Effect.REFUSED, Effect.UNKNOWN]
    assert max(Effect, key=lambda word: word.severity) is Effect.UNKNOWN


def test_metrics_of_further_objects_restart_no_pod_of_the_monitoring() -> None:
    before, after = (object_metrics.metrics(dpf=on, metal3=True, stacks=on) for on in (False, True))
    before, after = ({"values": {"kube-state-metrics": values}} for values in (before, after))
    effects = found(before, after, ("helm.toolkit.fluxcd.io/v2", "HelmRelease"))

    assert {path.split(".")[3] for path in effects} == {"customResourceState", "rbac"}
    assert set(effects.values()) == {Effect.IN_PLACE}
