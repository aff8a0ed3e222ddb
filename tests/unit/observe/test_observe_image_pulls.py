"""Images that cannot be pulled are the reason why a pool is not ready, in one line with registry and cause."""

from __future__ import annotations

from typing import Any

from components.specs.environment import Environment
from jacquard.observe.image_pulls import failed_pulls, texts
from jacquard.observe.observation import Observation, observe
from jacquard.observe.region_status import assemble
from jacquard.providers.kube import ApiServer
from tests.support.objects.backend_objects import conditions

CILIUM = "quay.io/cilium/cilium:v1.20.0"
CAUSE = (
    'failed to do request: Head "https://quay.io/v2/cilium/cilium/manifests/v1.20.0": '
    "dial tcp: lookup quay.io: i/o timeout"
)
ERROR = (
    f'rpc error: code = Unknown desc = failed to pull and unpack image "{CILIUM}": '
    f'failed to resolve reference "{CILIUM}": {CAUSE}'
)
BACK_OFF = f'Back-off pulling image "{CILIUM}": ErrImagePull: {ERROR}'


def pod(name: str, reason: str, message: str = "", node: str = "n0", image: str = CILIUM, init: bool = False) -> Any:  # noqa: FBT001, FBT002
    field = "initContainerStatuses" if init else "containerStatuses"
    waiting = {"reason": reason, "message": message}
    statuses = [{"name": "agent", "image": image, "state": {"waiting": waiting}}]
    return {
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"nodeName": node},
        "status": {"phase": "Pending", field: statuses},
    }


def test_pods_with_one_cause_are_one_line() -> None:
    pods = [
        pod("cilium-1", "ErrImagePull", ERROR),
        pod("cilium-2", "ImagePullBackOff", BACK_OFF),
        pod("own", "ImagePullBackOff", 'Back-off pulling image "quay.io/a:1"', image="quay.io/a:1", init=True),
        pod("starting", "ContainerCreating"),
        {"metadata": {"name": "unscheduled", "namespace": "a"}},
    ]

    assert texts(failed_pulls(pods)) == [
        f"kube-system/cilium-1 and 1 more pods cannot pull {CILIUM}: {CAUSE}",
        'kube-system/own cannot pull quay.io/a:1: Back-off pulling image "quay.io/a:1"',
    ]


def test_a_pool_with_an_unpullable_cni_reports_it_first(laptop: Environment, seen: Observation) -> None:
    machine = next(one for one in seen.of("Machine") if one["metadata"]["name"] == "globex-lab-lab-a01-0")
    machine["status"] = {"nodeRef": {"name": "n0"}, "conditions": conditions(Ready="False", UpToDate="True")}
    pods = [pod("cilium-1", "ImagePullBackOff", BACK_OFF), pod("other", "ErrImagePull", ERROR, node="of another pool")]
    seen.objects["globex-lab", "Pod"] = pods

    status = assemble(laptop, seen)

    place = "globex-lab/lab a01"
    assert status.why[0] == f"{place}: kube-system/cilium-1 cannot pull {CILIUM}: {CAUSE}"
    assert "nodes ready" in status.why[1]


def test_pods_of_ready_nodes_are_not_the_regions_business(laptop: Environment, seen: Observation) -> None:
    seen.objects["globex-lab", "Pod"] = [pod("own", "ErrImagePull", ERROR)]

    assert assemble(laptop, seen).settled


def test_only_pending_pods_are_read(laptop: Environment) -> None:
    asked: dict[str, str] = {}

    class Server(ApiServer):
        def __init__(self) -> None:
            pass

        def each(self, _version: str, kind: str, *, field_selector: str | None = None, **_: Any) -> Any:
            asked[f"{_version} {kind}"] = field_selector or ""
            return []

    observe(laptop, lambda *_: Server())

    assert {kind: fields for kind, fields in asked.items() if fields} == {"v1 Pod": "status.phase=Pending"}
