"""Devices from the APIs of NetBox and Nautobot: all pages, bounded retries, one sentence for a failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from jacquard.exchange.choices import Choices
from jacquard.exchange.formats import SOURCES, SourceFormat
from jacquard.exchange.importing import Hosts, Import, merge
from jacquard.exchange.inventory_api import APIS, records, unknown_filters
from tests.support.exchange.fake_inventory import TOKEN, TOKEN_OF_4_5, Answer, FakeInventory, fake_inventory
from tests.support.exchange.inventory_reader import failure, read

KINDS = ("netbox", "nautobot")
TITLES = {"netbox": "NetBox", "nautobot": "Nautobot"}
ANSWERS = yaml.safe_load((Path(__file__).parent / "api_answers.yaml").read_text(encoding="utf-8"))
Serve = Callable[..., FakeInventory]
Filters = Sequence[tuple[str, str]]


def imported(region: Environment, server: FakeInventory) -> Import:
    source = SourceFormat(server.kind)
    hosts = Hosts(origin=server.address, records=records(source, server.address, read(server)))
    return merge(region, "a", hosts, SOURCES[source], Choices(), prune=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_devices_of_a_hall_are_the_hosts_of_the_inventory(serve: Serve, region: Environment, kind: str) -> None:
    done = imported(region, serve(kind))

    assert (done.added, done.changed, done.removed, done.notes) == ((), (), (), ())
    assert done.unchanged == len(region.hosts)


@pytest.mark.parametrize("kind", KINDS)
def test_all_pages_are_read_and_each_device_once(serve: Serve, region: Environment, kind: str) -> None:
    server = serve(kind)
    server.max_page = 7

    names = [item["name"] for item in read(server)]

    assert names == [host.host for host in region.hosts]
    assert len(server.requests) == -(-len(names) // 7)


def test_the_token_is_only_sent_to_the_requested_address(serve: Serve, region: Environment) -> None:
    server, other = serve("netbox"), serve("netbox")
    server.max_page, server.seen_as = 7, other.address

    assert len(read(server)) == len(region.hosts)
    assert other.requests == []


@pytest.mark.parametrize(
    ("kind", "token", "scheme"), [("netbox", TOKEN_OF_4_5, "Bearer"), ("nautobot", TOKEN, "Token")]
)
def test_the_scheme_of_the_header_is_that_of_the_token(serve: Serve, kind: str, token: str, scheme: str) -> None:
    server = serve(kind)
    server.token = token

    read(server, token=token)

    assert {header for _, header in server.requests} == {f"{scheme} {token}"}


@pytest.mark.parametrize("version", ["4.4", "4.7"])
def test_contexts_that_can_contain_credentials_are_not_requested(serve: Serve, version: str) -> None:
    server = serve("netbox")
    server.version = version

    assert not any("config_context" in item for item in read(server))


@pytest.mark.parametrize(
    ("kind", "filters"),
    [
        (
            "netbox",
            [("site", "desk"), ("role", "gpu-node"), ("tag", "gpu"), ("status", "active"), ("status", "staged")],
        ),
        ("nautobot", [("location", "a"), ("role", "GPU node"), ("tags", "gpu"), ("status", "Active")]),
    ],
)
def test_filters_are_sent_to_the_api(serve: Serve, region: Environment, kind: str, filters: Filters) -> None:
    server = serve(kind)
    server.devices[0]["status"] = "offline"

    assert [item["name"] for item in read(server, *filters)] == [host.host for host in region.hosts[1:]]


def test_a_filter_that_netbox_would_ignore_is_unknown() -> None:
    api = APIS[SourceFormat.NETBOX]

    known = "(site, location, rack, role, status, tag, region, site_group, tenant, manufacturer)"
    filters = [("site", "desk"), ("cf_leaf", "leaf-a1"), ("roles", "gpu"), ("x", "y")]

    assert [*unknown_filters(api, filters)] == [
        f"--filter roles=gpu: 'roles' is not a filter of NetBox {known}; did you mean 'role'?",
        f"--filter x=y: 'x' is not a filter of NetBox {known}; choose a listed filter, or cf_NAME for a custom field",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_devices_of_several_sites_are_rejected(serve: Serve, region: Environment, kind: str) -> None:
    server = serve(kind)
    server.devices[1]["site"] = {"id": "site:other", "name": "other"}

    with pytest.raises(SpecError) as caught:
        imported(region, server)

    page = f"{server.address}/dcim/devices/{'2' if kind == 'netbox' else '00000001-ed58-4938-ab6f-cb6a9e584f14'}/"
    where, got = ("site", "other") if kind == "netbox" else ("location.parent", "site:other")
    assert f"\n  {page}  {where}: other rows have " in str(caught.value)
    assert f"(got '{got}')" in str(caught.value)


def test_problems_name_the_page_of_the_device(serve: Serve, region: Environment) -> None:
    server = serve("netbox")
    custom = server.devices[1]["custom_fields"]
    custom["boot_mac"] = server.devices[0]["custom_fields"]["boot_mac"]
    custom["instance_type"] = "h100-ib-9"

    with pytest.raises(SpecError) as caught:
        imported(region, server)

    page = f"{server.address}/dcim/devices"
    assert f"  {page}/2/  instance_type: 'h100-ib-9' in cf_instance_type is not an instance type" in str(caught.value)


@pytest.mark.parametrize("case", ANSWERS, ids=[case["name"] for case in ANSWERS])
def test_a_permanent_error_is_reported_immediately(serve: Serve, case: dict[str, Any]) -> None:
    server = serve("netbox")
    server.answer(Answer(case["status"], case.get("body", ""), case.get("headers", {})))

    assert failure(server) == f"NetBox at URL {case['text']}"
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_token_and_a_wrong_value_of_a_filter_are_reported(serve: Serve, kind: str) -> None:
    title = TITLES[kind]

    assert failure(serve(kind), token="wrong") == (
        f"{title} at URL answered 403 (Invalid token); set {title.upper()}_TOKEN to a valid token that may view devices"
    )
    assert failure(serve(kind), ("role", "gpu")) == (
        f"{title} at URL answered 400 (role: Select a valid choice. gpu is not one of the available choices.);"
        " correct --filter"
    )


@pytest.mark.parametrize(
    ("kind", "version", "text"),
    [
        ("netbox", "3.7", "and NetBox 4.0 or later is required; use FORMAT nautobot for Nautobot, or correct --url"),
        ("nautobot", "1.6", "and Nautobot 2.0 or later is required; use FORMAT netbox for NetBox, or correct --url"),
        ("nautobot", "4.4", "and Nautobot 2.0 or later is required; use FORMAT netbox for NetBox, or correct --url"),
    ],
)
def test_the_version_of_the_api_is_checked(serve: Serve, kind: str, version: str, text: str) -> None:
    server = serve(kind)
    server.version = version

    assert failure(server) == f"{TITLES[kind]} at URL has the API version '{version}', {text}"


def test_no_device_is_an_error_because_all_hosts_would_be_missing(serve: Serve) -> None:
    server = serve("netbox")

    assert failure(server, ("status", "planned"), ("role", "gpu-node")) == (
        "NetBox at URL has no device with status=planned role=gpu-node; correct --filter, or use a token that may view"
        " devices"
    )


def test_a_list_that_changes_between_two_pages_is_not_used(serve: Serve) -> None:
    server = serve("netbox")
    server.max_page = 7

    def remove_one() -> None:
        if len(server.requests) == 2:
            del server.devices[0]

    server.on_request = remove_one

    assert failure(server) == "NetBox at URL changed while it was read; run the command again"


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_busy_server_is_retried(serve: Serve, region: Environment, status: int) -> None:
    server, waits = serve("netbox"), []
    server.answer(Answer(status), Answer(status))

    assert len(read(server, waits=waits)) == len(region.hosts)
    assert waits == [1.0, 2.0]


def test_the_server_sets_the_retry_delay(serve: Serve, region: Environment) -> None:
    server, waits = serve("netbox"), []
    server.answer(Answer(429, "", {"Retry-After": "7"}))

    assert len(read(server, waits=waits)) == len(region.hosts)
    assert waits == [7.0]


def test_the_number_of_attempts_and_the_wait_are_bounded(serve: Serve) -> None:
    server, waits = serve("netbox"), []
    server.answer(*[Answer(503, '{"error": "Database is down", "exception": "OperationalError"}')] * 5)
    assert failure(server, waits=waits) == "NetBox at URL answered 503 (Database is down); retry later"
    assert (waits, len(server.requests)) == ([1.0, 2.0, 4.0], 4)

    server, waits = serve("netbox"), []
    server.answer(Answer(429, '{"detail": "Request was throttled."}', {"Retry-After": "3600"}))
    assert failure(server, waits=waits) == "NetBox at URL answered 429 (Request was throttled.); retry in 3600 s"
    assert (waits, len(server.requests)) == ([], 1)


def test_an_address_without_a_server_is_reported_after_retries(serve: Serve) -> None:
    waits: list[float] = []
    with fake_inventory("netbox", []) as gone:
        address = gone.address

    text = failure(serve("netbox"), address=address, waits=waits)

    assert (
        text == f"NetBox at {address} cannot be reached ([Errno 111] Connection refused); check --url and the network"
    )
    assert waits == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("path", ["/", "/api", "/api/"])
def test_the_address_can_end_with_the_path_of_the_api(serve: Serve, region: Environment, path: str) -> None:
    server = serve("netbox")

    assert len(read(server, address=server.address + path)) == len(region.hosts)


def test_a_file_of_nautobot_needs_the_names_of_related_objects(refused: Any) -> None:
    body = {"name": "a09-u01", "device_type": {"id": "1", "object_type": "dcim.devicetype", "url": "u"}}

    assert refused("nautobot", json.dumps([body, "x"])) == (
        "  the.file:1  is not a device; write the answer of /api/dcim/devices/?depth=1\n"
        "  the.file:1  device_type: has related objects without names; request /api/dcim/devices/?depth=1"
    )
