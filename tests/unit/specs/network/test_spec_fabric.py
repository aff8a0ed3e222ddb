"""Numbers of fabrics."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from components.specs.network.fabrics import FabricKind, FabricSpec, GuidRange
from tests.support.checks.spec_errors import error_texts

INFINIBAND = {
    "name": "ib-a",
    "kind": FabricKind.INFINIBAND,
    "halls": ("a", "b"),
    "pkeys": "0x1-0x7ffe",
    "guids": "0x0002c90300a10000-0xffffffffffffffff",
    "ufm_secret": "ufm-ib-a",
    "max_hosts": 4000,
}


def test_an_infiniband_fabric_keeps_its_numbers() -> None:
    fabric = FabricSpec.model_validate(INFINIBAND)

    assert fabric.pkeys is not None
    assert fabric.guids is not None
    assert (fabric.pkeys.first, fabric.pkeys.last) == (1, 0x7FFE)
    assert (fabric.guids.first, fabric.guids.last) == (0x0002C90300A10000, (1 << 64) - 1)


def test_ranges_are_written_as_text_that_reads_back_as_the_same() -> None:
    written = FabricSpec.model_validate(INFINIBAND).model_dump(mode="json")

    assert (written["pkeys"], written["guids"]) == ("1-32766", INFINIBAND["guids"])
    assert FabricSpec.model_validate_json(FabricSpec.model_validate(INFINIBAND).model_dump_json()) == (
        FabricSpec.model_validate(INFINIBAND)
    )


@pytest.mark.parametrize("number", [0, 255, (1 << 64) - 1])
def test_a_guid_has_all_sixteen_digits(number: int) -> None:
    adapter = TypeAdapter(GuidRange)
    text = str(adapter.validate_python({"first": number, "last": number}))

    assert len(text) == 2 * 18 + 1
    assert str(adapter.validate_python(text)) == text


def _texts(**changes: Any) -> dict[str, str]:
    """Return the errors of ``INFINIBAND`` with ``changes`` by path; None removes a key."""
    return error_texts(
        FabricSpec, {key: value for key, value in {**INFINIBAND, **changes}.items() if value is not None}
    )


def test_infiniband_needs_all_its_numbers() -> None:
    numbers = {"pkeys": "0x1-0x7ffe", "guids": "0x0002c90300a10000-0x0002c90300a1ffff", "ufm_secret": "..."}

    assert _texts(**dict.fromkeys(numbers)) == {
        key: f"is required for an infiniband fabric; write {key}: {shape}" for key, shape in numbers.items()
    }


def test_ethernet_has_no_numbers() -> None:
    assert _texts(kind="ethernet") == {
        "pkeys": "has no effect on an ethernet fabric (got '1-32766'); remove it",
        "guids": "has no effect on an ethernet fabric (got '0x0002c90300a10000-0xffffffffffffffff'); remove it",
        "ufm_secret": "has no effect on an ethernet fabric (got 'ufm-ib-a'); remove it",
    }
    assert _texts(kind="ethernet", pkeys=None, guids=None, ufm_secret=None) == {}


@pytest.mark.parametrize("pkeys", ["0-16", "0x7ff0-0x7fff"])
def test_partition_keys_leave_out_the_default_partition(pkeys: str) -> None:
    assert list(_texts(pkeys=pkeys)) == ["pkeys"]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"pkeys": "0x10-0x8000"},
            "has partition keys outside 0x1-0x7ffe (got '0x10-0x8000'); write a range within",
        ),
        (
            {"guids": "0x0002c90300a10000-0x1ffff"},
            (
                'must be a range of GUIDs like "0x0002c90300a10000-0x0002c90300a1ffff"'
                " (got '0x0002c90300a10000-0x1ffff')"
            ),
        ),
        (
            {"guids": "0x0002c90300a10000-0x0002c90300a0ffff"},
            "must go upwards (got '0x0002c90300a10000-0x0002c90300a0ffff'); write the lower GUID first",
        ),
    ],
)
def test_an_invalid_range_is_reported(changes: dict[str, str], text: str) -> None:
    assert _texts(**changes) == dict.fromkeys(changes, text)


ROCE = {
    "name": "roce-a",
    "kind": "ethernet",
    "vnis": "40000-40099",
    "roce": {"mtu_bytes": 9000, "priority": 3, "dscp": 26, "cnp_dscp": 48},
    "max_hosts": 100,
}


def _roce_texts(**changes: Any) -> dict[str, str]:
    """Return the errors of ``ROCE`` with ``changes`` by path; None removes a key."""
    return error_texts(FabricSpec, {key: value for key, value in {**ROCE, **changes}.items() if value is not None})


def test_an_ethernet_fabric_that_isolates_vpcs_has_numbers_for_them() -> None:
    assert _roce_texts() == {}
    assert FabricSpec.model_validate(ROCE, strict=False).isolates_vpcs
    assert _roce_texts(vnis=None, roce=None) == {}
    assert _roce_texts(vnis=None) == {
        "vnis": "is required for an ethernet fabric with roce; write vnis: 40000-40999",
    }
    assert _roce_texts(roce=None) == {
        "vnis": "has no effect on a fabric without roce (got '40000-40099'); remove it",
    }
    assert _roce_texts(vnis="0-99") == {"vnis": "has VNIs outside 1-16777215 (got '0-99'); write a range within"}


def test_rails_and_their_addresses_go_together_on_a_fabric_with_roce() -> None:
    rails = {"rails": 8, "rail_prefixes": "10.8.0.0/14"}

    assert _roce_texts(**rails) == {}
    assert _roce_texts(rails=8) == {
        "rail_prefixes": "is required on a fabric with rails; write rail_prefixes: 10.64.0.0/16"
    }
    assert _roce_texts(rail_prefixes="10.8.0.0/14") == {
        "rails": "is required on a fabric with rail_prefixes; write rails: 8"
    }
    assert _roce_texts(roce=None, vnis=None, **rails) == {
        "rails": "has no effect on a fabric without roce (got '8'); remove it",
        "rail_prefixes": "has no effect on a fabric without roce (got '10.8.0.0/14'); remove it",
    }
    assert _texts(**rails) == {
        "rails": "has no effect on an infiniband fabric (got '8'); remove it",
        "rail_prefixes": "has no effect on an infiniband fabric (got '10.8.0.0/14'); remove it",
    }


def test_infiniband_has_no_settings_of_ethernet() -> None:
    assert _texts(vnis="1-2", roce=ROCE["roce"]) == {
        "roce": (
            "has no effect on an infiniband fabric"
            " (got '{mtu_bytes: 9000, priority: 3, dscp: 26, cnp_dscp: 48}'); remove it"
        ),
        "vnis": "has no effect on an infiniband fabric (got '1-2'); remove it",
    }


def test_packets_of_rdma_are_of_the_lossless_class_and_news_of_congestion_is_not() -> None:
    wrong = {"mtu_bytes": 9000, "priority": 3, "dscp": 34, "cnp_dscp": 24}

    assert _roce_texts(roce=wrong) == {
        "roce.dscp": "is not in the class of priority 3, whose DSCPs are 24 to 31 (got 34); write one of them",
        "roce.cnp_dscp": (
            "is in the class of the lossless priority 3, which congestion pauses (got 24); write a value"
            " outside 24 to 31, such as 48"
        ),
    }
