"""Pod Security levels of namespaces in the management cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from components.inputs.manifests import everything
from components.render.manifest import MANAGEMENT, Manifest
from components.specs.environment import Environment
from tests.support.data.complete_pools import with_complete_pools
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.data.second_backends import with_backends
from tests.support.objects.secret_access import pod_of


def levels_in(items: Iterable[Manifest]) -> dict[str, str]:
    """Return the level of each namespace of the management cluster."""
    return {
        item.name: item.body["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
        for item in items
        if item.kind == "Namespace" and item.cluster == MANAGEMENT
    }


def test_ironic_uses_the_host_network_and_no_other_pod_of_metal3_may() -> None:
    every = list(everything(reference("us-east-04a")))
    levels = levels_in(every)

    assert {levels[str(item.namespace)] for item in every if item.kind == "Ironic"} == {"privileged"}
    assert levels["baremetal-operator-system"] == levels["capm3-system"] == "restricted"


def test_every_choice_of_backends_has_a_row_for_each_namespace(laptop: Environment) -> None:
    levels = levels_in(everything(with_backends(laptop)))

    assert levels["ironcore-metal-system"] == "privileged"
    assert levels["k0smotron"] == "baseline"


def test_pods_that_are_rendered_keep_to_the_level_of_their_namespace() -> None:
    loaded = [reference(name) for name in REFERENCES]
    every = [item for one in (*loaded, with_complete_pools(loaded[2])) for item in everything(one)]
    levels = levels_in(every)
    pods = [(item, pod) for item in every if item.cluster == MANAGEMENT and (pod := pod_of(item))]

    # DPF's namespace is privileged because DPF requires it; our pods there need no privileges.
    asked = {"privileged": "restricted", "baseline": "baseline", "restricted": "restricted"}

    assert {levels[str(item.namespace)] for item, _ in pods} == asked.keys()
    assert [item.key for item, pod in pods if not keeps(pod, asked[levels[str(item.namespace)]])] == []


def keeps(pod: Any, level: str) -> bool:
    """Return whether a pod complies with a Pod Security standard, limited to the fields of our pods."""
    containers = [*pod["containers"], *pod.get("initContainers", ())]
    own = [{**pod.get("securityContext", {}), **one.get("securityContext", {})} for one in containers]
    host = any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC"))
    paths = any("hostPath" in volume for volume in pod.get("volumes", ()))
    baseline = not host and not paths and not any(one.get("privileged") for one in own)
    return baseline and (
        level == "baseline"
        or all(
            one.get("runAsNonRoot") is True
            and one.get("allowPrivilegeEscalation") is False
            and one.get("capabilities", {}).get("drop") == ["ALL"]
            and one.get("seccompProfile", {}).get("type") == "RuntimeDefault"
            for one in own
        )
    )


def test_a_pod_that_is_not_hardened_is_found() -> None:
    hardened = {
        "runAsNonRoot": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }

    assert keeps({"containers": [{"securityContext": hardened}]}, "restricted")
    assert not keeps({"containers": [{"securityContext": {**hardened, "runAsNonRoot": False}}]}, "restricted")
    assert keeps({"containers": [{}]}, "baseline")
    assert not keeps({"containers": [{}], "hostNetwork": True}, "baseline")
