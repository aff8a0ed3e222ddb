"""Service of Slurm's login nodes: its address, its name, and the networks from which it can be reached."""

from __future__ import annotations

from typing import Any

from components.render.workloads.slurm import SlurmInput
from components.specs.environment import Environment
from components.specs.struct import replace
from tests.support.objects.rendered_objects import objects_of
from tests.support.workloads.slurm_clusters import slurm_input


def test_a_public_address_and_a_name_are_requested_by_the_service(laptop: Environment) -> None:
    given = replace(slurm_input(laptop), public_address="192.0.2.7", host_name="login.example")  # type: ignore[arg-type]
    [login] = [item for item in given.render() if item.kind == "LoginSet"]

    assert login.body["spec"]["service"]["metadata"]["annotations"] == {
        "metallb.io/address-pool": "public",
        "metallb.io/loadBalancerIPs": "192.0.2.7",
        "external-dns.alpha.kubernetes.io/hostname": "login.example",
    }


def test_a_service_without_a_public_address_replaces_the_annotations_of_one(laptop: Environment) -> None:
    """The operator never removes an annotation, so a key that is not rendered would keep its public value."""
    given = replace(slurm_input(laptop), host_name=None)
    public = replace(given, public_address="192.0.2.7")  # type: ignore[arg-type]
    notes = [
        item.body["spec"]["service"]["metadata"]["annotations"]
        for one in (public, given)
        for item in objects_of(one)
        if item.kind == "LoginSet"
    ]

    assert {**notes[0], **notes[1]} == notes[1]
    assert notes[1] == {"metallb.io/address-pool": "vpc", "metallb.io/loadBalancerIPs": ""}


def test_only_listed_networks_reach_login_nodes(laptop: Environment) -> None:
    limited, open_to_all = slurm_input(laptop), slurm_input(laptop, login={"users_secret": "users"})

    def service(given: SlurmInput) -> dict[str, Any]:
        [found] = [item for item in given.render() if item.kind == "LoginSet"]
        answer: dict[str, Any] = found.body["spec"]["service"]["spec"]
        return answer

    assert service(limited)["loadBalancerSourceRanges"] == ["203.0.113.0/24", "192.0.2.0/26"]
    assert service(limited)["externalTrafficPolicy"] == "Local", "the addresses of clients are kept"
    assert "loadBalancerSourceRanges" not in service(open_to_all)
