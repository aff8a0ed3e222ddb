"""The resolved region has every value, with its origin."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from components.reports.resolved import Branch, Source, UnknownPathError, Value, leaves, resolved
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import HostState, OutOfServiceSpec
from components.specs.ranges import NumberRange
from jacquard.machine import paths

FOLDER = paths.ROOT / "environments" / "laptop"
POOL = "tenants.acme.clusters.acme-train.pools.train"


def written(node: object) -> tuple[object, str]:
    assert isinstance(node, Value)
    return node.value, str(node.origin)


def line_of(file: str, text: str) -> int:
    """Return the line of ``file`` that starts with ``text``, without indentation."""
    lines = Path(FOLDER / file).read_text(encoding="utf-8").splitlines()
    return 1 + next(number for number, line in enumerate(lines) if line.strip().startswith(text))


def test_a_value_that_a_person_wrote_names_its_line(region: Environment) -> None:
    line = line_of("tenants/acme.yaml", "nodes: 10")

    assert written(resolved(region, f"{POOL}.nodes")) == (10, f"tenants/acme.yaml:{line}")


def test_a_value_missing_in_the_data_is_a_default(region: Environment) -> None:
    assert written(resolved(region, f"{POOL}.rollout.drain_timeout_seconds")) == (3600, "default")
    assert written(resolved(region, f"{POOL}.health.max_unhealthy")) == ("20%", "default")


def test_values_have_the_form_that_data_files_have(region: Environment) -> None:
    assert written(resolved(region, "tenants.acme.vpcs.acme.pods"))[0] == "/16"
    assert written(resolved(region, "region.networks.vni"))[0] == "10000-19999"
    assert written(resolved(region, "region.networks.management"))[0] == "10.0.0.0/16"


def test_ranges_of_numbers_are_one_value(region: Environment) -> None:
    acme = region.allocations.vpcs["acme"].model_copy(update={"links": {"a1": (NumberRange(first=0, last=7),)}})
    allocations = region.allocations.model_copy(update={"vpcs": {**region.allocations.vpcs, "acme": acme}})

    spec = region.model_copy(update={"allocations": allocations})

    assert written(resolved(spec, "tenants.acme.vpcs.acme.allocated.links.a1"))[0] == ["0-7"]


def test_allocations_are_next_to_their_orders(region: Environment) -> None:
    lock, pins = "allocations.lock.yaml", "images.lock.yaml"
    group, name = f"{POOL}.groups.a01", region.image_pins.groups["acme-train/train/a01"]

    assert written(resolved(region, "tenants.acme.vpcs.acme.allocated.vni")) == (
        region.allocations.vpcs["acme"].vni,
        f"allocated, {lock}:{line_of(lock, 'acme: {')}",
    )
    assert (
        written(resolved(region, f"{group}.nodes"))[1] == f"allocated, {lock}:{line_of(lock, 'acme-train/train/a01: ')}"
    )
    assert written(resolved(region, f"{group}.image"))[1] == f"allocated, {pins}:{line_of(pins, f'{name}:') + 2}"
    assert written(resolved(region, "hosts.a01-u01.pool")) == (
        "acme-train/train",
        f"allocated, {lock}:{line_of(lock, 'a01-u01: ')}",
    )
    assert written(resolved(region, "tenants.acme.vms.platform.bastion.address"))[0] == "203.0.113.1"


def test_a_host_states_why_it_is_out_of_service(region: Environment) -> None:
    why = OutOfServiceSpec(state=HostState.RMA, since=dt.date(2026, 11, 3), reason="no link")
    spoilt = region.model_copy(update={"out_of_service": {"a01-u01": why}})

    assert written(resolved(spoilt, "hosts.a01-u01.out_of_service.state"))[0] == "rma"


def test_a_name_with_dots_is_one_step_of_a_path(region: Environment) -> None:
    [image] = (image for image in region.images.images if image.version == "gpu-2026.11.1")

    assert written(resolved(region, "images.images.gpu-2026.11.1.sha256"))[0] == image.sha256


def test_entries_without_a_key_are_numbered(region: Environment) -> None:
    assert written(resolved(region, f"{POOL}.taints.0.effect"))[0] == "NoSchedule"


def test_the_whole_region_leaves_nothing_without_an_origin(region: Environment) -> None:
    values = dict(leaves(resolved(region)))

    assert {path.partition(".")[0] for path in values} == {
        "region", "tenants", "hosts", "policy", "waivers", "images", "instance_types", "firmware",
        "health", "versions", "add_ons", "vm_offerings",
    }  # fmt: skip
    assert all(
        value.origin.line for value in values.values() if value.origin.source is not Source.DEFAULT and value.value
    )
    assert len([path for path in values if path.endswith(".boot_mac")]) == len(region.hosts)


@pytest.mark.parametrize(
    ("path", "found", "known"),
    [
        ("tenant", "", "tenants"),
        ("tenants.acm", "tenants", "acme"),
        (f"{POOL}.node", POOL, "nodes"),
    ],
)
def test_an_unknown_path_states_its_longest_known_prefix(
    region: Environment, path: str, found: str, known: str
) -> None:
    with pytest.raises(UnknownPathError) as error:
        resolved(region, path)

    assert error.value.found == found
    assert known in error.value.known


def test_a_scalar_value_has_no_children(region: Environment) -> None:
    with pytest.raises(UnknownPathError) as error:
        resolved(region, f"{POOL}.nodes.more")

    assert (error.value.found, error.value.known) == (f"{POOL}.nodes", ())


def test_values_missing_in_a_lock_file_are_absent(region: Environment) -> None:
    bare = region.model_copy(update={"allocations": type(region.allocations)(schema_version=1)})

    vpc = resolved(bare, "tenants.acme.vpcs.acme")

    assert isinstance(vpc, Branch)
    assert "allocated" not in vpc.children
