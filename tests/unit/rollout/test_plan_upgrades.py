"""Steps of control plane pins, and rejected steps."""

from __future__ import annotations

from typing import Any

import pytest

from components.allocate.allocation import allocate
from components.inputs.slice_inputs import inputs
from components.intents.images import objections
from components.lookups.pools import clusters
from components.lookups.slices import slices
from components.render.control_planes.etcd_upkeep import MadeEtcd
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.reports.upgrades import upgrades
from components.rollout.upgrades import move_data_store, promote_control_plane
from components.specs.environment import Environment
from components.specs.locks import ControlPlanePin
from components.specs.reading.problems import ArgumentError, SpecError
from components.specs.region.region import ControlPlaneBackend

ACME = "tenants/acme.yaml"


@pytest.fixture
def ready(laptop: Any) -> Any:
    """Return laptop with dedicated data stores, where acme requests the newer minor version of the catalogue."""
    laptop.edit(ACME, "version: v1.35.2", "version: v1.36.1")
    laptop.edit("region.yaml", "  data_stores:\n", "  dedicated: {storage_class: fast}\n  data_stores:\n")
    return laptop


def running(environment: Environment, cluster: str, version: str) -> Environment:
    """Return ``environment`` with the control plane of ``cluster`` at ``version``, without an upgrade path."""
    pins = environment.image_pins.control_planes
    changed = pins | {cluster: pins[cluster].model_copy(update={"version": version})}
    lock = environment.image_pins.model_copy(update={"control_planes": changed})
    return environment.model_copy(update={"image_pins": lock})


def control_plane(environment: Environment, cluster: str) -> HostedControlPlaneInput:
    every = (item for part in slices(environment) for item in inputs(environment, part))
    return next(item for item in every if isinstance(item, HostedControlPlaneInput) and item.name == cluster)


def refusal(error: pytest.ExceptionInfo[SpecError]) -> list[str]:
    return str(error.value).splitlines()[1:]


def test_requested_versions_do_not_run_before_a_promotion(ready: Any) -> None:
    environment = ready.load()

    assert ready.report() == ""
    assert control_plane(environment, "acme-train").version == "v1.35.2"
    lock = promote_control_plane(environment, "acme-train", "v1.36.1")
    promoted = environment.model_copy(update={"image_pins": lock})
    assert lock.control_planes == {
        "acme-train": ControlPlanePin(version="v1.36.1", data_store="shared-a"),
        "globex-lab": ControlPlanePin(version="v1.35.2", data_store="shared-a"),
    }
    assert lock.groups == environment.image_pins.groups
    assert control_plane(promoted, "acme-train").version == "v1.36.1"


def test_a_promotion_to_the_running_version_changes_nothing(laptop: Any) -> None:
    environment = laptop.load()

    assert promote_control_plane(environment, "acme-train", "v1.35.2") == environment.image_pins


@pytest.mark.parametrize(
    ("cluster", "version", "expected"),
    [
        (
            "acme-train",
            "v1.34.6",
            (
                "  tenants/acme.yaml:LINE  clusters[0].version: v1.34.6 is older than v1.35.2, and control planes"
                " cannot be downgraded; write v1.35.2"
            ),
        ),
        (
            "globex-lab",
            "v1.36.1",
            (
                "  tenants/globex.yaml:LINE  clusters[0].version: this cluster declares version v1.35.2; write v1.36.1"
                " here first"
            ),
        ),
    ],
)
def test_a_wrong_step_is_refused_with_the_remedy(ready: Any, cluster: str, version: str, expected: str) -> None:
    with pytest.raises(SpecError) as error:
        promote_control_plane(ready.load(), cluster, version)

    assert refusal(error) == [ready.resolved(expected)]


@pytest.mark.parametrize(
    ("cluster", "version", "expected"),
    [
        (
            "acme-tran",
            "v1.36.1",
            "CLUSTER: there is no cluster 'acme-tran' (clusters: acme-train, globex-lab); did you mean 'acme-train'?",
        ),
        (
            "acme-train",
            "v1.36.2",
            (
                "--to v1.36.2: is not in ../catalog/versions.yaml (v1.34.6, v1.35.1, v1.35.2, v1.36.1); add it there;"
                " did you mean 'v1.36.1'?"
            ),
        ),
    ],
)
def test_a_wrong_argument_is_no_problem_of_the_data(ready: Any, cluster: str, version: str, expected: str) -> None:
    with pytest.raises(ArgumentError) as error:
        promote_control_plane(ready.load(), cluster, version)

    assert str(error.value) == expected


def test_a_minor_version_is_not_left_out(ready: Any) -> None:
    with pytest.raises(SpecError) as error:
        promote_control_plane(running(ready.load(), "acme-train", "v1.34.6"), "acme-train", "v1.36.1")

    assert refusal(error) == [
        ready.resolved(
            "  tenants/acme.yaml:LINE  clusters[0].version: v1.36.1 is 2 minor versions above v1.34.6, and control"
            " planes are upgraded one minor version at a time; write v1.35.2 first"
        )
    ]


def test_a_control_plane_waits_for_pools_on_the_previous_minor_version(ready: Any) -> None:
    for name in [name for name in ready.load().image_pins.intents if name.startswith("gpu-2026.10.2@")]:
        ready.intend(name, "kubelet", "v1.34.6")

    with pytest.raises(SpecError) as error:
        promote_control_plane(ready.load(), "acme-train", "v1.36.1")

    lines = refusal(error)
    assert [line.split()[1] for line in lines] == [
        "groups.acme-train/infer/a03:",
        "groups.acme-train/train/a01:",
        "groups.acme-train/train/a02:",
    ]
    assert lines[0].endswith(
        ": runs kubelet v1.34.6, an older minor version than control plane v1.35.2, so its nodes cannot be created or"
        " repaired; promote it first: jacquard promote laptop acme-train/infer --to gpu-2026.11.1"
    )


NO_IMAGE = (
    "no image of channel stable for h100-ib-8 has kubelet v1.36.1 or an older patch of it, so nodes of {}"
    " could not be created or repaired; add one to ../catalog/images.yaml first"
)


def test_a_control_plane_upgrade_requires_an_image_for_each_pool(ready: Any) -> None:
    ready.edit("../catalog/images.yaml", "kubelet: v1.36.1", "kubelet: v1.35.2")

    with pytest.raises(SpecError) as error:
        promote_control_plane(ready.load(), "acme-train", "v1.36.1")

    assert refusal(error) == [
        ready.resolved(f"  tenants/acme.yaml:LINE  clusters[0].pools[1].image: {NO_IMAGE.format('train')}"),
        ready.resolved(f"  tenants/acme.yaml:LINE  clusters[0].pools[2].image: {NO_IMAGE.format('infer')}"),
    ]


def test_an_image_of_another_channel_does_not_open_the_way(ready: Any) -> None:
    ready.edit(
        "../catalog/images.yaml",
        "gpu-2026.11.3        # for control planes of the next minor version\n    channel: [stable]",
        "gpu-2026.11.3\n    channel: [candidate]",
    )

    with pytest.raises(SpecError, match="no image of channel stable for h100-ib-8"):
        promote_control_plane(ready.load(), "acme-train", "v1.36.1")


def test_a_patch_of_the_minor_version_that_runs_needs_no_image(laptop: Any) -> None:
    environment = running(laptop.load(), "acme-train", "v1.35.1")

    lock = promote_control_plane(environment, "acme-train", "v1.35.2")
    assert lock.control_planes["acme-train"].version == "v1.35.2"


def test_upgrades_show_the_next_version_image_readiness_and_steps(laptop: Any) -> None:
    [acme, globex] = upgrades(laptop.load())

    assert (acme.version, acme.next, acme.blocks) == ("v1.35.2", "v1.36.1", ())
    assert acme.images == {"system": "cpu-2026.11.3", "train": "gpu-2026.11.3", "infer": "gpu-2026.11.3"}
    assert globex.do == laptop.resolved(
        "write version: v1.36.1 in tenants/globex.yaml:<clusters.globex-lab.version>, then jacquard promote laptop"
        " globex-lab --to v1.36.1"
    )


def test_upgrades_show_the_same_blockers_as_the_promotion(ready: Any) -> None:
    ready.edit("../catalog/images.yaml", "kubelet: v1.36.1", "kubelet: v1.35.2")

    [acme, _] = upgrades(ready.load())
    assert acme.images == {"system": "cpu-2026.11.3", "train": None, "infer": None}
    assert acme.blocks == (
        ready.resolved(f"tenants/acme.yaml:LINE clusters[0].pools[1].image: {NO_IMAGE.format('train')}"),
        ready.resolved(f"tenants/acme.yaml:LINE clusters[0].pools[2].image: {NO_IMAGE.format('infer')}"),
    )
    assert acme.do == "jacquard promote laptop acme-train --to v1.36.1"


def test_a_control_plane_at_the_newest_version_has_nowhere_to_go(ready: Any) -> None:
    [acme, _] = upgrades(running(ready.load(), "acme-train", "v1.36.1"))

    assert (acme.version, acme.next, acme.images, acme.blocks, acme.do) == ("v1.36.1", None, {}, (), None)


def test_an_image_waits_for_the_control_plane_whose_version_it_needs(ready: Any) -> None:
    environment = ready.load()
    [acme, _] = (placed.cluster for placed in clusters(environment))
    image = next(image for image in environment.images.images if image.contents.kubelet == "v1.36.1")

    assert objections(environment, image, acme, acme.pools[1]) == [
        (
            f"image {image.version} has kubelet v1.36.1, newer than control plane v1.35.2; upgrade the control"
            " plane first: jacquard promote laptop acme-train --to v1.36.1"
        )
    ]
    assert objections(running(environment, "acme-train", "v1.36.1"), image, acme, acme.pools[1]) == []


def test_a_cluster_moves_from_a_shared_data_store_to_its_own(ready: Any) -> None:
    ready.edit(ACME, "data_store: shared-a", "data_store: dedicated")
    environment = ready.load()

    assert ready.report() == ""
    assert control_plane(environment, "acme-train").data_store == environment.region.control_planes.data_stores[0]
    moved = environment.model_copy(update={"image_pins": move_data_store(environment, "acme-train", "dedicated")})
    assert moved.image_pins.control_planes["acme-train"].data_store == "dedicated"
    assert isinstance(control_plane(moved, "acme-train").data_store, MadeEtcd)


def test_an_unrequested_version_change_is_rejected(ready: Any) -> None:
    with pytest.raises(SpecError) as error:
        move_data_store(ready.load(), "acme-train", "dedicated")

    assert refusal(error) == [
        ready.resolved(
            "  tenants/acme.yaml:LINE  clusters[0].control_plane.data_store: this cluster declares shared-a; write"
            " dedicated here first"
        )
    ]


def test_k0smotron_moves_no_cluster(ready: Any) -> None:
    ready.edit(ACME, "data_store: shared-a", "data_store: dedicated")
    environment = ready.load()
    control_planes = environment.region.control_planes.model_copy(update={"backend": ControlPlaneBackend.K0SMOTRON})
    region = environment.region.model_copy(update={"control_planes": control_planes})

    with pytest.raises(SpecError) as error:
        move_data_store(environment.model_copy(update={"region": region}), "acme-train", "dedicated")

    assert refusal(error) == [
        ready.resolved(
            "  tenants/acme.yaml:LINE  clusters[0].control_plane.data_store: k0smotron cannot move a cluster to another"
            " data store; write shared-a, its current data store, or create a new cluster"
        )
    ]


def test_node_ports_that_grow_are_allocated_and_kept(laptop: Any) -> None:
    laptop.edit(
        ACME, "    vpc: acme\n    control", "    vpc: acme\n    api_server: {node_ports: 20000-32767}\n    control"
    )

    numbers, _ = allocate(laptop.load())

    assert str(numbers.clusters["acme-train"].node_ports) == "20000-32767"
    assert str(numbers.clusters["globex-lab"].node_ports) == "30000-32767"
