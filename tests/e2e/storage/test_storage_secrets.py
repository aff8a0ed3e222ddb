"""Read access to storage credentials at a real API server: each rendered subject, and Kubernetes' default roles.

The roles and bindings of one cluster at a time are created there, and SubjectAccessReviews are sent for each of its
Secrets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.labels import BUCKET_LOGIN
from components.render.manifest import MANAGEMENT, Manifest, objects
from components.specs.reading.loader import environments, load_environment
from jacquard.providers.kube import ApiServer, ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.secret_access import kinds

pytestmark = pytest.mark.e2e

READ = ("get", "list", "watch")
_VIEW, _EDIT, _ADMIN = (f"system:aggregate-to-{name}" for name in ("view", "edit", "admin"))
BUILT_IN = {
    "view": (_VIEW,),
    "edit": (_VIEW, _EDIT),
    "admin": (_VIEW, _EDIT, _ADMIN),
    "cluster-admin": ("cluster-admin",),
}
"""Kubernetes' default aggregated roles and their parts; the aggregating controller does not run here."""
OWN = "looms"
Secret = tuple[str, str]
"""Namespace and name."""
Who = dict[str, Any]


def rendered(name: str) -> list[Manifest]:
    return list(objects(everything(load_environment(name, ENVIRONMENTS))))


def of_storage(items: list[Manifest]) -> dict[str, set[Secret]]:
    """Return the Secrets with storage credentials or bucket keys by cluster, and their copies for management."""
    found: dict[str, set[Secret]] = {}
    for item in items:
        for key, name in (item.body.get("parameters") or {}).items():
            if key.endswith("secret-name"):
                place = item.body["parameters"][key.replace("-name", "-namespace")]
                found.setdefault(item.cluster, set()).add((place, name))
        if keys_of_bucket := item.body["metadata"].get("annotations", {}).get(BUCKET_LOGIN):
            found.setdefault(item.cluster, set()).add((str(item.namespace), keys_of_bucket))
    pushed = [item for item in items if item.kind == "PushSecret"]
    for cluster, secrets in list(found.items()):
        names = {name for _, name in secrets}
        for item in pushed:
            keys = {one["match"]["remoteRef"]["remoteKey"] for one in item.body["spec"]["data"]}
            if item.namespace == cluster and keys & names:
                copy = (cluster, item.body["spec"]["selector"]["secret"]["name"])
                found.setdefault(MANAGEMENT, set()).add(copy)
    return found


def subjects(items: list[Manifest]) -> Iterator[Who]:
    """Yield each subject of a binding, in the form of a SubjectAccessReview."""
    for item in items:
        for one in item.body["subjects"] if "Binding" in kinds(item) else ():
            if one["kind"] == "Group":
                yield {"user": "somebody", "groups": [one["name"]]}
            elif one["kind"] == "ServiceAccount":
                user = f"system:serviceaccount:{one['namespace']}:{one['name']}"
                yield {"user": user, "groups": ["system:serviceaccounts", f"system:serviceaccounts:{one['namespace']}"]}
            else:
                yield {"user": one["name"]}


def may_read(api: ApiServer, who: Who, secret: Secret) -> bool:
    def allowed(verb: str) -> bool:
        asked = {"namespace": secret[0], "name": secret[1], "verb": verb, "resource": "secrets"}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
        body = review | {"spec": {"resourceAttributes": asked, **who}}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return bool(api.request("POST", path, body=body)["status"]["allowed"])

    return any(map(allowed, READ))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    running = LocalApiServer(tmp_path_factory.mktemp("secrets") / "server", kinds=())
    try:
        running.namespace(OWN)
        yield running
    finally:
        running.stop()


def put(api: ApiServer, items: list[Manifest]) -> list[ObjectRef]:
    """Create roles and bindings; return the created objects."""
    access = [item for item in items if kinds(item)]
    spaces = {item.namespace for item in access if item.namespace}
    namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(spaces)]
    for body in (*namespaces, *(item.body for item in access)):
        api.apply(body, field_manager="test", force=True)
    return [ObjectRef.of(item.body) for item in access]


@pytest.mark.parametrize("name", environments(ENVIRONMENTS))
def test_only_administrators_of_a_cluster_read_its_storage_credentials_by_rendered_roles(
    server: LocalApiServer, name: str
) -> None:
    items = rendered(name)
    secrets, readers = of_storage(items), dict[str, set[str]]()
    for cluster in sorted({item.cluster for item in items}):
        inside = [item for item in items if item.cluster == cluster]
        there = put(server.api, inside)
        for who in subjects(inside):
            for secret in secrets.get(cluster, ()):
                if may_read(server.api, who, secret):
                    readers.setdefault(cluster, set()).update(who.get("groups", [who["user"]]))
        for ref in there:
            server.api.delete(ref)

    admins = {
        item.cluster: {one["name"] for one in item.body["subjects"]}
        for item in items
        if (item.kind, item.name) == ("ClusterRoleBinding", "tenant-admins") and item.cluster in secrets
    }
    assert readers == admins, "nobody but a cluster's own administrators, and nobody in the management cluster"


def test_reference_environments_have_storage_credentials() -> None:
    found = {name: of_storage(rendered(name)) for name in environments(ENVIRONMENTS)}

    assert found["laptop"] == {
        "acme-train": {("vast-csi", "vast-acme")},
        "globex-lab": {("vast-csi", "vast-globex")},
    }
    assert found["eu-south-03a"] == {
        "tessera-render": {("render", "bucket-frames"), ("render", "bucket-proofs")},
        MANAGEMENT: {("tessera-render", "render-bucket-frames"), ("tessera-render", "bucket.proofs")},
    }
    copies = found["us-east-04a"].pop(MANAGEMENT)
    assert len(copies) == sum(map(len, found["us-east-04a"].values())) > 10


@pytest.mark.parametrize(("everywhere", "readers"), [(False, set[str]()), (True, {"edit", "admin", "cluster-admin"})])
def test_default_roles_read_secrets_only_where_they_are_bound(
    server: LocalApiServer, *, everywhere: bool, readers: set[str]
) -> None:
    kind = "ClusterRoleBinding" if everywhere else "RoleBinding"
    bound = []
    for role, part in ((role, part) for role, parts in BUILT_IN.items() for part in parts):
        metadata = {"name": f"{role}-{part}", **({} if everywhere else {"namespace": OWN})}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": part}
        user = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": role}
        body = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata}
        server.api.apply(body | {"roleRef": reference, "subjects": [user]}, field_manager="test", force=True)
        bound.append(ObjectRef.of(body))

    found = {role for role in BUILT_IN if may_read(server.api, {"user": role}, ("vast-csi", "vast-acme"))}
    own = {role for role in BUILT_IN if may_read(server.api, {"user": role}, (OWN, "any"))}
    for ref in bound:
        server.api.delete(ref)

    assert (found, own) == (readers, {"edit", "admin", "cluster-admin"})
