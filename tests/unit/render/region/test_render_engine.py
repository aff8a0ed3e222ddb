"""Stacks of slices, their order, and their rights compared with what the slices render."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from components.inputs import engine as inputs
from components.inputs.slice_inputs import made
from components.lookups.slices import BY_COMMAND, Slice, slices
from components.render.manifest import MANAGEMENT, Manifest, ManifestSet, objects
from components.render.region.engine.engine import UNSET_COMMIT, EngineInput, StackSlice
from components.render.region.engine.operator import NAMESPACE
from components.specs.environment import Environment
from components.specs.region.engine import EngineSpec
from components.specs.region.state import StateSpec
from components.specs.struct import replace
from tests.support.data.environment_data import REFERENCES, reference

URL = "https://git.cloud.example/platform/regions"
SPEC = EngineSpec.model_validate({"kind": "operator", "repository": URL})
READ, CHANGE = frozenset({"get", "list", "watch"}), frozenset({"create", "delete", "get", "patch", "update"})
SLICES = (
    StackSlice(name="inventory-a", needs=(), places={"inventory": ("inventory", "train")}),
    StackSlice(name="tenant-acme", needs=("inventory-a",), places={"tenant": ("tenant-acme", "train")}),
    StackSlice(name="cluster-train", needs=("tenant-acme",), places={"cluster": ("train",)}),
)


def engine(**changed: Any) -> EngineInput:
    state = StateSpec(backend="s3://state/one", secrets_provider="awskms://alias/state")
    given = EngineInput(name="one", spec=SPEC, state=state, context="one-management", image="pulumi@x", slices=SLICES)
    return replace(given, **changed)


def stacks(item: EngineInput) -> dict[str, dict[str, Any]]:
    found = (one for one in item.render() if isinstance(one, Manifest) and one.kind == "Stack")
    return {one.name: dict(one.body["spec"]) for one in found}


def test_each_slice_is_a_stack_after_its_needs() -> None:
    found = stacks(engine())

    assert {name: [need["name"] for need in spec.get("prerequisites", ())] for name, spec in found.items()} == {
        "inventory-a": [],
        "tenant-acme": ["inventory-a"],
        "cluster-train": ["tenant-acme"],
    }
    assert found["tenant-acme"]["stack"] == "one.tenant-acme"


def test_only_slices_of_a_run_get_its_commit() -> None:
    commit = "5" * 40

    found = stacks(engine(commits={"tenant-acme": commit}))

    assert [spec["commit"] for spec in found.values()] == [UNSET_COMMIT, commit, UNSET_COMMIT]


def test_a_rehearsal_has_the_state_of_its_machine() -> None:
    assert {"backend", "secretsProvider"} & stacks(engine(state=None))["tenant-acme"].keys() == set()


@pytest.mark.parametrize(
    ("url", "login"),
    [
        (URL, {"accessToken": {"type": "Secret", "secret": {"name": "regions-git", "key": "accessToken"}}}),
        (
            "ssh://git@git.cloud.example/regions.git",
            {
                "sshAuth": {
                    "sshPrivateKey": {"type": "Secret", "secret": {"name": "regions-git", "key": "sshPrivateKey"}}
                }
            },
        ),
    ],
)
def test_the_login_of_the_repository_depends_on_its_transport(url: str, login: Mapping[str, Any]) -> None:
    spec = EngineSpec.model_validate({"kind": "operator", "repository": url, "repository_secret": "regions-git"})

    assert stacks(engine(spec=spec))["tenant-acme"]["gitAuth"] == login


def test_pods_read_logins_of_the_state_from_a_secret_and_log_in_by_their_account() -> None:
    spec = EngineSpec.model_validate({"kind": "operator", "repository": URL, "state_variables": ["PGPASSWORD"]})
    state = StateSpec(backend="postgres://state@db.cloud.example/state", secrets_provider="awskms://alias/state")

    workspace = stacks(engine(spec=spec, state=state))["tenant-acme"]["workspaceTemplate"]["spec"]

    variables = {item["name"]: item.get("value", item.get("valueFrom")) for item in workspace["env"]}
    assert variables["PGPASSWORD"] == {"secretKeyRef": {"name": "state", "key": "PGPASSWORD"}}
    assert variables["PULUMI_DIY_BACKEND_PARALLEL"] == "1"
    [kubeconfig] = (one for one in engine().render() if isinstance(one, Manifest) and one.kind == "ConfigMap")
    assert (
        '"tokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token"'
        in kubeconfig.body["data"]["management.yaml"]
    )
    assert '"current-context": "one-management"' in kubeconfig.body["data"]["management.yaml"]


def test_stacks_are_applied_after_the_rights_of_their_accounts() -> None:
    rights, _, *rest = engine().render()

    assert isinstance(rights, ManifestSet)
    assert {one.after for one in rest if isinstance(one, Manifest)} == {(("ObjectSet", rights.name),)}


def test_only_the_slice_of_a_cluster_reads_its_kubeconfig() -> None:
    [rights] = (one for one in engine().render() if isinstance(one, ManifestSet))
    readers = [one for one in rights.members.values() if any("secrets" in rule["resources"] for rule in _rules(one))]

    assert [(one.kind, one.namespace, _rules(one)) for one in readers] == [
        (
            "Role",
            "train",
            [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["train-kubeconfig"]}],
        )
    ]


@pytest.mark.parametrize("name", REFERENCES)
def test_each_slice_of_a_reference_may_apply_exactly_its_own_objects(name: str) -> None:
    environment = reference(name)
    permits = permits_of(environment)

    lacking = [
        f"{piece.name}: {group}/{resource} in {place}"
        for piece in slices(environment)
        if piece.kind not in BY_COMMAND
        for group, resource, place in sorted(_needed(environment, piece))
        if not permits.all(piece.name, group, resource, place, CHANGE)
    ]

    assert lacking == []


@pytest.mark.parametrize("name", REFERENCES)
def test_each_slice_of_a_reference_may_grant_what_its_roles_contain(name: str) -> None:
    environment = reference(name)
    permits = permits_of(environment)

    lacking = [
        f"{piece.name}: {rule} in {role.namespace}"
        for piece in slices(environment)
        if piece.kind not in BY_COMMAND
        for role in _manifests(environment, piece)
        for rule in _rules(role)
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if not permits.all(piece.name, group, resource, str(role.namespace), frozenset(rule["verbs"]))
    ]

    assert lacking == []


class Permits:
    """Permissions by account, from roles and bindings of a set."""

    def __init__(self, rights: ManifestSet) -> None:
        members = [*rights.members.values()]
        roles = {(one.kind, one.namespace, one.name): _rules(one) for one in members}
        self._granted: dict[str, list[tuple[str | None, Mapping[str, Any]]]] = {}
        for one in members:
            if one.kind not in ("RoleBinding", "ClusterRoleBinding"):
                continue
            of = one.body["roleRef"]
            place = one.namespace if of["kind"] == "Role" else None
            for subject in one.body["subjects"]:
                assert subject["namespace"] == NAMESPACE
                granted = ((one.namespace, rule) for rule in roles.get((of["kind"], place, of["name"]), ()))
                self._granted.setdefault(subject["name"], []).extend(granted)

    def all(self, account: str, group: str, resource: str, place: str, verbs: frozenset[str]) -> bool:
        """Return whether the account has all verbs for a resource in a namespace."""
        return verbs <= {
            verb
            for where, rule in self._granted[account]
            if where in (None, place) and group in rule["apiGroups"] and resource in rule["resources"]
            for verb in rule["verbs"]
        }


def permits_of(environment: Environment) -> Permits:
    """Return the rights of the operator's accounts in an environment."""
    [item] = inputs.of_region(environment, SPEC)
    [rights] = (one for one in item.render() if isinstance(one, ManifestSet))
    return Permits(rights)


def _needed(environment: Environment, piece: Slice) -> set[tuple[str, str, str]]:
    """Return API group, resource and namespace of all objects that a slice applies in the management cluster."""
    found = {(_group(one), _resource(one.kind), one.namespace or "") for one in _manifests(environment, piece)}
    sets = (one for item in made(environment, piece) for one in item.rendered if isinstance(one, ManifestSet))
    return found | {("", "configmaps", one.namespace) for one in sets if one.cluster == MANAGEMENT}


def _manifests(environment: Environment, piece: Slice) -> Iterator[Manifest]:
    rendered = (one for item in made(environment, piece) for one in objects(item.rendered))
    return (one for one in rendered if one.cluster == MANAGEMENT)


def _group(item: Manifest) -> str:
    return item.api_version.partition("/")[0] if "/" in item.api_version else ""


def _resource(kind: str) -> str:
    """Return the plural of a kind, as Kubernetes guesses it (apimachinery:pkg/api/meta/restmapper.go)."""
    name = kind.lower()
    if name.endswith(("components", "credentials", "settings")):
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _rules(item: Manifest) -> list[Mapping[str, Any]]:
    return list(item.body.get("rules") or ()) if item.kind in ("Role", "ClusterRole") else []
