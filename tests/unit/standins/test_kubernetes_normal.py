"""Normalisation of inputs: quantities, and the table of fields."""

import json
from pathlib import Path

import pytest

from jacquard.lab.standins.kubernetes.objects import normal
from jacquard.lab.standins.kubernetes.objects.normal import canonical

FIELDS = Path(normal.__file__).with_name("fields")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        (0.5, "500m"),
        (2, "2"),
        ("1000", "1k"),
        ("1024", "1024"),
        ("100000", "100k"),
        ("1000M", "1G"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000Mi", "1000Mi"),
        ("0.5Ki", "512"),
        ("2048Ei", "2048Ei"),
        ("0Mi", "0"),
        ("-1000m", "-1"),
        ("+5", "5"),
        ("1e3", "1e3"),
        ("1000e3", "1e6"),
        ("0.1n", "1n"),
        (" 1 ", "1"),
    ],
)
def test_a_quantity_has_the_largest_suffix_that_needs_no_fraction(given: object, kept: str) -> None:
    assert canonical(given) == kept
    assert canonical(kept) == kept


@pytest.mark.parametrize("given", ["", "much", "1 Gi", "Mi", "0x10", True, None, ["1"]])
def test_invalid_quantities_are_left_to_the_api_server(given: object) -> None:
    assert canonical(given) is given


def test_the_table_of_fields_leads_nowhere_but_to_its_own_types() -> None:
    table = json.loads((FIELDS / "builtin.json").read_text())
    types = table["types"]

    codes = {code for fields in types.values() for code in fields.values()} | set(table["kinds"].values())
    assert {name for code in codes if (name := code.lstrip("-[{")) not in {*types, "", "q", "b"}} == set()
    assert {"v1 Secret", "apps/v1 Deployment", "scheduling.k8s.io/v1 PriorityClass"} <= table["kinds"].keys()
    assert all("creationTimestamp" not in fields for fields in types.values())
