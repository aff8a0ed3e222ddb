"""Prerequisites of a stack, and their messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.concept import Concept, Made
from components.render.extensions import ExtensionInput
from components.render.manifest import Manifest, Readiness, objects
from components.render.pools.node_pool import NodePoolInput
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.region.external_secrets import SecretsSpec
from jacquard.machine import paths
from jacquard.providers.kube import KindNotFound, ObjectRef, Unreachable
from stacks import gates
from stacks.errors import StackError
from tests.support.data.external_store import MADE, STORE, with_store

READY = {"status": {"initialization": {"controlPlaneInitialized": True}}}


class Management:
    """A management cluster that serves some kinds and has some objects."""

    def __init__(self, *, lacks: tuple[str, ...] = (), holds: dict[str, dict[str, Any]] | None = None) -> None:
        self.lacks = lacks
        self.holds = holds or {}

    def resource(self, api_version: str, kind: str) -> None:
        if kind in self.lacks:
            raise KindNotFound(api_version, kind)

    def get(self, ref: ObjectRef) -> dict[str, Any] | None:
        self.resource(ref.api_version, ref.kind)
        return self.holds.get(f"{ref.kind} {ref.name}")


@pytest.fixture(scope="module")
def environment() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


def concepts(environment: Environment, *names: str) -> list[Concept]:
    return [
        concept
        for piece in slices(environment)
        if not names or piece.name in names
        for concept in inputs(environment, piece)
    ]


def made(environment: Environment, *names: str) -> list[Made[Concept]]:
    return list(map(Made, concepts(environment, *names)))


def rendered(environment: Environment, *names: str) -> list[tuple[Concept, list[Manifest]]]:
    return [(concept, list(objects(concept.render()))) for concept in concepts(environment, *names)]


def test_the_gates_request_the_objects_of_each_concept_once(
    environment: Environment, through: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    render = NodePoolInput.render

    def counted(pool: NodePoolInput) -> Any:
        asked.append(pool.name)
        return render(pool)

    monkeypatch.setattr(NodePoolInput, "render", counted)
    through(Management())

    assert asked == [item.name for item in concepts(environment) if isinstance(item, NodePoolInput)]


@pytest.fixture
def through(environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return a function that checks the gates of some slices and returns the warnings."""

    def run(management: Any, *names: str, preview: bool = False) -> list[str]:
        warnings: list[str] = []
        monkeypatch.setattr(gates.ApiServer, "from_kubeconfig", lambda *_, **__: management)
        monkeypatch.setattr(pulumi.log, "warn", warnings.append)
        gates.pass_gates(
            "laptop", environment.region, made(environment, *names), tmp_path, preview=preview, others=tuple
        )
        return warnings

    return run


def test_everything_there_passes_without_a_word(through: Callable[..., list[str]]) -> None:
    assert through(Management()) == []


def test_all_awaited_objects_are_reported_together_with_the_command_that_resumes(
    through: Callable[..., list[str]],
) -> None:
    management = Management(lacks=("DPUVirtualNetwork", "MachineDeployment"))

    with pytest.raises(pulumi.RunError) as error:
        through(management, "tenant-acme", "tenant-globex")

    assert str(error.value) == (
        "waiting: stack laptop has 2 missing prerequisites\n"
        "  kind DPUVirtualNetwork (vpc.dpu.nvidia.com/v1alpha1) is not served by the management cluster: its operator "
        "has not installed the CRD\n"
        "  kind MachineDeployment (cluster.x-k8s.io/v1beta2) is not served by the management cluster: its operator "
        "has not installed the CRD\n"
        "resume with: pulumi up -s laptop"
    )


def test_a_cluster_slice_waits_for_its_control_plane(through: Callable[..., list[str]]) -> None:
    with pytest.raises(pulumi.RunError) as error:
        through(Management(holds={"Cluster globex-lab": {"status": {}}}), "cluster-globex-lab")

    assert str(error.value) == (
        "waiting: stack laptop has 1 missing prerequisite\n"
        "  control plane of cluster globex-lab is not initialized: the stack of its tenant creates it\n"
        "resume with: pulumi up -s laptop"
    )


def test_a_cluster_slice_passes_once_its_control_plane_is_initialized(through: Callable[..., list[str]]) -> None:
    assert through(Management(holds={"Cluster globex-lab": READY}), "cluster-globex-lab") == []


def test_a_preview_continues_without_a_tenant_cluster_and_reports_skipped_checks(
    through: Callable[..., list[str]],
) -> None:
    assert through(Management(), "cluster-globex-lab", preview=True) == [
        "cluster globex-lab does not exist yet: 20 objects not checked"
    ]


def test_a_preview_waits_for_kinds_as_well(through: Callable[..., list[str]]) -> None:
    with pytest.raises(pulumi.RunError, match=r"^waiting: "):
        through(Management(lacks=("HelmRelease",)), preview=True)


def test_a_preview_reports_existing_unready_objects(
    environment: Environment, through: Callable[..., list[str]]
) -> None:
    awaited = [item for _, items in rendered(environment, "tenant-globex") for item in items if item.readiness]
    plane = next(item for item in awaited if item.kind == "KamajiControlPlane")
    management = Management(holds={f"{plane.kind} {plane.name}": {"status": {}}})

    [message] = through(management, "tenant-globex", preview=True)

    assert message.startswith(
        "not ready: KamajiControlPlane globex-lab/globex-lab of cluster management, which 'up' waits for: "
    )
    assert through(management, "tenant-globex") == []


def test_an_invalid_wait_expression_is_rejected_before_any_request(environment: Environment, tmp_path: Path) -> None:
    readiness = Readiness(conditions=("jsonpath={.status.x[}=1",), timeout_seconds=1)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    own = ExtensionInput(name="own", objects=(Manifest(body=body, readiness=readiness),))

    with pytest.raises(StackError) as error:
        gates.pass_gates("laptop", environment.region, [Made(own)], tmp_path, preview=True, others=tuple)

    first, second = str(error.value).splitlines()
    assert first == "stack laptop: 1 object with an invalid wait condition"
    assert second.startswith("  ConfigMap x of cluster management: waitFor 'jsonpath={.status.x[}=1': ")


def test_one_object_is_counted_in_the_singular() -> None:
    item = Manifest(body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}, cluster="acme")

    assert gates.unchecked([item], ["acme"]) == ["cluster acme does not exist yet: 1 object not checked"]


def test_a_region_only_requires_kinds_that_its_operators_do_not_install(environment: Environment) -> None:
    kinds = {item.kind for item in gates.gated(rendered(environment))}

    assert kinds == {"Namespace", "PriorityClass", "OCIRepository", "HelmRelease", "Kustomization"}


def test_a_region_requires_the_kinds_of_the_platforms_secret_operator_but_not_its_own(
    environment: Environment,
) -> None:
    def kinds(secrets: SecretsSpec) -> set[str]:
        return {item.kind for item in gates.gated(rendered(with_store(environment, secrets)))}

    assert kinds(STORE) - kinds(MADE) == {"ExternalSecret"}


def test_kinds_of_tenant_clusters_are_not_required_in_the_management_cluster(environment: Environment) -> None:
    management: Any = Management(lacks=("StorageClass", "VolumeSnapshotClass"))

    assert gates.missing_kinds(management, gates.gated(rendered(environment, "cluster-globex-lab"))) == []


def test_a_missing_management_cluster_is_reported_with_the_remedy(environment: Environment, tmp_path: Path) -> None:
    with pytest.raises(pulumi.RunError) as error:
        gates.pass_gates("laptop", environment.region, made(environment), tmp_path, preview=True, others=tuple)

    assert str(error.value).startswith(f"{tmp_path}/management.yaml: ")
    assert str(error.value).endswith("; create the clusters with: pulumi up -s laptop.bootstrap, or jacquard up laptop")


def test_an_unresponsive_management_cluster_is_reported_with_the_remedy(
    through: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = "https://127.0.0.1:1"

    def silent(*_: Any) -> None:
        raise Unreachable(server, "connection refused")

    monkeypatch.setattr(Management, "resource", silent)

    with pytest.raises(pulumi.RunError) as error:
        through(Management())

    assert str(error.value) == (
        "https://127.0.0.1:1 does not answer: connection refused; create the clusters with: "
        "pulumi up -s laptop.bootstrap, or jacquard up laptop"
    )


def test_outside_a_local_region_the_remedy_names_the_context(environment: Environment, tmp_path: Path) -> None:
    region = environment.region.model_copy(update={"stage": "production", "context": "admin@ewr2"})

    with pytest.raises(pulumi.RunError) as error:
        gates.pass_gates("laptop", region, made(environment), tmp_path, preview=True, others=tuple)

    assert str(error.value).endswith(
        f"; check that {tmp_path}/management.yaml reaches context admin@ewr2 from this machine"
    )
