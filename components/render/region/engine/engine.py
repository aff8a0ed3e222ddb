"""Stacks by which the Pulumi Kubernetes Operator applies the slices of a region.

Each slice is a Stack at a commit, so that the operator applies exactly what was reviewed. `jacquard up` sets the commit
of a slice that it is to apply; other slices keep theirs. A prerequisite is satisfied only by a run of its current
generation (PKO:operator/internal/controller/pulumi/stack_controller.go, isRequirementSatisfied), and a new commit is a
new generation, so that a slice never starts before the slices that it needs have the same change. For the same reason,
Stacks are applied in the order of their prerequisites.

The operator deletes no objects of a slice with its Stack, because `destroyOnFinalize` is not set; `jacquard down`
does. It runs a failed slice again after 10, 30 and 90 seconds, and then only for a new commit or on request.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from components.render.manifest import OBJECT_SET, Manifest, ManifestSet, Rendered
from components.render.objects import SERVICES_PRIORITY, given, manifest
from components.render.region.engine import rights
from components.render.region.engine.operator import NAMESPACE
from components.specs.region.engine import EngineSpec
from components.specs.region.state import StateSpec
from components.specs.struct import Struct, field, replace

API = "pulumi.com/v1"
KIND = "Stack"
TOOL = "pulumi"
"""Name of the image with Pulumi and Python in the tools of the version vector."""
UNSET_COMMIT = "0" * 40
"""Commit of a Stack in rendered objects outside of `jacquard up`."""
MAX_NAME_CHARACTERS = 42
"""Maximum length of the name of a Stack (PKO:operator/api/pulumi/v1/stack_types.go)."""
RIGHTS = "rights"
"""Name of the set with the ServiceAccounts and roles of slices."""
_KUBECONFIG, _FILE, _FOLDER = "kubeconfig", "management.yaml", "/kubeconfigs"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_SOURCE = "/share/workspace"
"""Folder of the repository in the pod of a slice (PKO:operator/internal/controller/auto/workspace_controller.go)."""
_CONTAINER = "pulumi"


class StackSlice(Struct):
    """Slice that the operator applies."""

    name: str
    """Name of the slice, of its Stack and of its ServiceAccount."""
    needs: tuple[str, ...]
    """Slices of the operator that are applied before it."""
    places: Mapping[str, tuple[str, ...]]
    """Namespaces with objects of the slice, by role of `rights.RIGHTS`."""


class EngineInput(Struct):
    """Slices that an operator applies, in an order in which each is after its needs."""

    name: str
    """Name of the environment."""
    spec: EngineSpec
    state: StateSpec | None
    """Storage of the state; None for the state of a rehearsal on its machine."""
    context: str | None
    """Context of the management cluster's kubeconfig."""
    image: str
    """Image with Pulumi and Python."""
    slices: tuple[StackSlice, ...]
    commits: Mapping[str, str] = field(default_factory=dict)
    """Commit of each slice; `UNSET_COMMIT` for slices without one."""

    def render(self) -> tuple[Rendered, ...]:
        """Return the rights of the slices, the kubeconfig of their pods and their Stacks."""
        items = rights.render({item.name: item.places for item in self.slices})
        members = {"/".join(filter(None, (item.namespace, item.kind, item.name))): item for item in items}
        return (
            ManifestSet(name=RIGHTS, namespace=NAMESPACE, members=members),
            _kubeconfig(self.context),
            *self._stacks(),
        )

    def _stacks(self) -> Iterator[Manifest]:
        for item in self.slices:
            state = given(
                backend=self.state and self.state.backend, secretsProvider=self.state and self.state.secrets_provider
            )
            source = {"projectRepo": self.spec.repository, "commit": self.commits.get(item.name, UNSET_COMMIT)}
            spec = {
                "stack": f"{self.name}.{item.name}",
                **state,
                **source,
                **given(gitAuth=_login(self.spec)),
                **given(prerequisites=[{"name": need} for need in item.needs]),
                "serviceAccountName": item.name,
                # A pod is kept only after a failure; otherwise each slice would reserve memory permanently.
                "workspaceReclaimPolicy": "Delete",
                "workspaceTemplate": {"spec": self._workspace()},
            }
            stack = manifest(API, KIND, item.name, namespace=NAMESPACE, spec=spec)
            yield replace(stack, after=((OBJECT_SET, RIGHTS),))

    def _workspace(self) -> dict[str, Any]:
        """Return the pod of a slice. Its service account is its login to the management cluster."""
        memory = self.spec.memory
        login = [
            {"name": name, "valueFrom": {"secretKeyRef": {"name": self.spec.state_secret, "key": name}}}
            for name in self.spec.state_variables
        ]
        mounts = [
            {"name": "kubeconfigs", "mountPath": _FOLDER},
            {"name": _KUBECONFIG, "mountPath": f"{_FOLDER}/{_FILE}", "subPath": _FILE, "readOnly": True},
        ]
        volumes = [{"name": "kubeconfigs", "emptyDir": {}}, {"name": _KUBECONFIG, "configMap": {"name": _KUBECONFIG}}]
        return {
            "image": self.image,
            "env": [*({"name": name, "value": value} for name, value in self._variables().items()), *login],
            "resources": {"requests": {"cpu": "500m", "memory": memory}, "limits": {"memory": memory}},
            "podTemplate": {
                "spec": {
                    "priorityClassName": SERVICES_PRIORITY,
                    "containers": [{"name": _CONTAINER, "volumeMounts": mounts}],
                    "volumes": volumes,
                }
            },
        }

    def _variables(self) -> dict[str, str]:
        """Return the variables of a run: those of `jacquard env`, for a pod."""
        return {
            "JACQUARD_CACHE": "/tmp/jacquard",  # noqa: S108 - in a pod of its own
            "JACQUARD_ENVIRONMENTS": f"{_SOURCE}/environments",
            "JACQUARD_KUBECONFIGS": _FOLDER,
            "KUBECONFIG": f"{_FOLDER}/{_FILE}",
            # Flags of pulumi; the operator has no field for a policy pack.
            "PULUMI_OPTION_POLICY_PACK": self.spec.policy_pack,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            **({"PULUMI_DIY_BACKEND_PARALLEL": "1"} if self._is_postgres else {}),
        }

    @property
    def _is_postgres(self) -> bool:
        return self.state is not None and self.state.backend.startswith("postgres://")


def _login(spec: EngineSpec) -> dict[str, Any] | None:
    if spec.repository_secret is None:
        return None
    ssh = spec.repository.startswith("ssh://")
    key = "sshPrivateKey" if ssh else "accessToken"
    reference = {"type": "Secret", "secret": {"name": spec.repository_secret, "key": key}}
    return {"sshAuth": {key: reference}} if ssh else {key: reference}


def _kubeconfig(context: str | None) -> Manifest:
    """Return the kubeconfig of the management cluster for pods: the login is the mounted token of their account."""
    name = context or "management"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": "management", "user": "slice"}}],
        "clusters": [
            {
                "name": "management",
                "cluster": {
                    "server": "https://kubernetes.default.svc",
                    "certificate-authority": f"{_ACCOUNT}/ca.crt",
                },
            }
        ],
        "users": [{"name": "slice", "user": {"tokenFile": f"{_ACCOUNT}/token"}}],
    }
    return manifest("v1", "ConfigMap", _KUBECONFIG, namespace=NAMESPACE, data={_FILE: json.dumps(content, indent=1)})
