"""Rights of the slices that the operator applies: a ServiceAccount for each slice, with roles by the kind of the slice.

A role lets a slice change the kinds of its objects in the namespaces of the slice only. A slice that creates Roles has
the permissions of these Roles too, because Kubernetes rejects a Role with permissions that its author does not have
(K8S:docs/reference/access-authn-authz/rbac). All slices may read objects of these kinds, namespaces and definitions of
kinds everywhere, for the checks before an apply. No slice reads Secrets, except the kubeconfig of its cluster.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.platform_pods import RBAC, REVIEWER, role_for, service_account
from components.render.region.engine.operator import NAMESPACE
from components.specs.struct import Struct

Grants: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""Namespaces in which a slice has a role, by slice and role."""
_Resources: TypeAlias = Mapping[str, tuple[str, ...]]
"""Resources by API group."""
_READ = ["get", "list", "watch"]
_CHANGE = [*_READ, "create", "delete", "patch", "update"]
_PREFIX = "slice-"
_READER = f"{_PREFIX}reader"
_KUBECONFIG = f"{_PREFIX}kubeconfig"
_CLUSTER = "cluster"
_FLUX: _Resources = {
    "helm.toolkit.fluxcd.io": ("helmreleases",),
    "kustomize.toolkit.fluxcd.io": ("kustomizations",),
    "source.toolkit.fluxcd.io": ("ocirepositories",),
}
_MONITORING: _Resources = {
    "monitoring.coreos.com": ("podmonitors", "prometheusrules", "servicemonitors"),
    "operator.victoriametrics.com": ("vmrules",),
}
_SECRETS: _Resources = {"external-secrets.io": ("externalsecrets", "pushsecrets", "secretstores")}
_ROLES: _Resources = {RBAC: ("rolebindings", "roles")}
_DPUS: _Resources = {
    "provisioning.dpu.nvidia.com": ("dpudevices", "dpunodes"),
    "svc.dpu.nvidia.com": (
        "dpudeployments",
        "dpuserviceconfigurations",
        "dpuserviceinterfaces",
        "dpuserviceipams",
        "dpuservicetemplates",
    ),
    "vpc.dpu.nvidia.com": ("dpuvirtualnetworks", "dpuvpcs"),
}
_SETS: _Resources = {"": ("configmaps",)}
"""Sets of objects store their members in ConfigMaps."""
_PODS: _Resources = {"": ("configmaps", "serviceaccounts", "services")}


class Rights(Struct):
    """Permissions of a slice with a role in a namespace."""

    changes: _Resources
    grants: tuple[Mapping[str, Any], ...] = ()
    """Rules that Roles of the slice contain, in addition to those about its own objects."""

    @property
    def rules(self) -> list[dict[str, Any]]:
        """Return the rules of the role."""
        return [*_rules(self.changes, _CHANGE), *map(dict, self.grants)]


def _grant(group: str, resource: str, *verbs: str) -> Mapping[str, Any]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


RIGHTS: Mapping[str, Rights] = {
    "inventory": Rights(
        changes={
            **_SETS,
            **_SECRETS,
            "metal3.io": (
                "baremetalhosts",
                "hostfirmwarecomponents",
                "hostfirmwaresettings",
                "hostupdatepolicies",
            ),
        }
    ),
    "tenant": Rights(
        changes={
            **_PODS,
            "batch": ("cronjobs", "jobs"),
            "bootstrap.cluster.x-k8s.io": ("k0sworkerconfigtemplates", "kubeadmconfigtemplates"),
            "cert-manager.io": ("certificates", "issuers"),
            "cluster.x-k8s.io": ("clusters", "machinedeployments", "machinedrainrules", "machinehealthchecks"),
            "controlplane.cluster.x-k8s.io": ("k0smotroncontrolplanes", "kamajicontrolplanes"),
            **_SECRETS,
            **_FLUX,
            "infrastructure.cluster.x-k8s.io": (
                "ironcoremetalclusters",
                "ironcoremetalmachinetemplates",
                "metal3clusters",
                "metal3datatemplates",
                "metal3machinetemplates",
                "metal3remediationtemplates",
            ),
            "ipam.metal3.io": ("ippools",),
            **_MONITORING,
            "policy": ("poddisruptionbudgets",),
            **_ROLES,
            "seaweed.seaweedfs.com": ("bucketlifecyclepolicies", "buckets", "s3credentials", "s3identities"),
            **_DPUS,
        },
        grants=(
            _grant("apps", "deployments", "get", "patch"),
            _grant("cluster.x-k8s.io", "machines", "list", "delete", "patch"),
            _grant("cluster.x-k8s.io", "machines/status", "patch"),
            _grant("infrastructure.cluster.x-k8s.io", "metal3remediations", "list"),
            _grant("metal3.io", "baremetalhosts", "list", "patch"),
        ),
    ),
    _CLUSTER: Rights(changes={**_PODS, "apps": ("deployments",), **_SECRETS, **_FLUX, **_MONITORING}),
    "fleet": Rights(
        changes={**_SETS, **_SECRETS, "externaldns.k8s.io": ("dnsendpoints",), **_FLUX, **_ROLES},
        grants=(
            _grant("externaldns.k8s.io", "dnsendpoints/status", "update"),
            _grant("events.k8s.io", "events", "create"),
        ),
    ),
    "dpus": Rights(changes={**_SETS, **_DPUS}),
}
"""Rights by role; a kind of slice has the role of its name."""
EVERYWHERE: Mapping[str, _Resources] = {"inventory": {"metal.ironcore.dev": ("bmcs",)}}
"""Resources outside namespaces that a slice changes, by role."""


def render(grants: Grants) -> Iterator[Manifest]:
    """Yield the ServiceAccounts of slices, with their roles and bindings."""
    yield from (manifest("v1", "ServiceAccount", name, namespace=NAMESPACE) for name in grants)
    roles = sorted({role for grant in grants.values() for role in grant})
    for role in roles:
        yield _cluster_role(f"{_PREFIX}{role}", RIGHTS[role].rules)
        for place, owners in _by_place(grants, role).items():
            yield _binding("RoleBinding", f"{_PREFIX}{role}", owners, namespace=place)
        if role in EVERYWHERE:
            name = f"{_PREFIX}{role}-everywhere"
            yield _cluster_role(name, _rules(EVERYWHERE[role], _CHANGE))
            yield _binding("ClusterRoleBinding", name, [owner for owner, grant in grants.items() if role in grant])
    for cluster, owners in _by_place(grants, _CLUSTER).items():
        rule = {**_grant("", "secrets", "get"), "resourceNames": [f"{cluster}-kubeconfig"]}
        [owner] = owners
        yield from role_for(_KUBECONFIG, [rule], subject=service_account(NAMESPACE, owner), namespace=cluster)
    yield _cluster_role(_READER, _read())
    yield _binding("ClusterRoleBinding", _READER, grants)
    # The agent in the pod of a slice reviews the token of the operator (PKO:agent/pkg/server/auth.go).
    yield _binding("ClusterRoleBinding", f"{_PREFIX}reviewer", grants, role=REVIEWER)


def _by_place(grants: Grants, role: str) -> dict[str, list[str]]:
    """Return the slices with ``role`` in each namespace."""
    owners: dict[str, list[str]] = {}
    for name, grant in grants.items():
        for place in grant.get(role, ()):
            owners.setdefault(place, []).append(name)
    return owners


def _read() -> list[dict[str, Any]]:
    """Return the rules for reading: all kinds that slices change, outside the core group."""
    found: dict[str, set[str]] = {"apiextensions.k8s.io": {"customresourcedefinitions"}, "": {"namespaces"}}
    tables = (*(rights.changes for rights in RIGHTS.values()), *EVERYWHERE.values())
    for group, names in chain.from_iterable(table.items() for table in tables):
        if group:
            found.setdefault(group, set()).update(names)
    return _rules({group: tuple(sorted(names)) for group, names in sorted(found.items())}, _READ)


def _rules(resources: _Resources, verbs: list[str]) -> list[dict[str, Any]]:
    return [
        {"apiGroups": [group], "resources": list(names), "verbs": list(verbs)} for group, names in resources.items()
    ]


def _cluster_role(name: str, rules: list[dict[str, Any]]) -> Manifest:
    return manifest(f"{RBAC}/v1", "ClusterRole", name, rules=rules)


def _binding(
    kind: str, name: str, owners: Iterable[str], *, role: str | None = None, namespace: str | None = None
) -> Manifest:
    return manifest(
        f"{RBAC}/v1",
        kind,
        name,
        namespace=namespace,
        roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": role or name},
        subjects=[service_account(NAMESPACE, owner) for owner in owners],
    )
