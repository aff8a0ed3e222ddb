"""A secret in any field of any file: the report of the file never repeats it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_csv import ALL_COLUMNS, InventoryReader
from components.specs.reading.kinds import KINDS, FileKind
from components.specs.reading.loader import parsed
from components.specs.reading.problems import SpecError
from tests.support.data.canaries import ALTERNATIVES, CANARIES, CANARY, full_document, secret_in


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_report_of_a_file_repeats_a_secret(kind: FileKind) -> None:
    reported = 0
    for variant in range(ALTERNATIVES):
        document = full_document(kind.model, variant) | {"schema_version": kind.model.FORMAT}
        _, _, problems = parsed(kind.path, _yaml(document), kind.model)
        output = f"{SpecError('laptop', problems)}\n{SpecError('laptop', problems).to_json()}"
        assert secret_in(output) == ""
        reported += len(problems)
    assert reported >= ALTERNATIVES, "values are rejected"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_report_repeats_the_value_of_a_field_that_does_not_exist(kind: FileKind) -> None:
    secrets = f"password: {CANARY}\napi_key: 0{CANARY}\ntokens:\n  - token: {CANARY}\n"

    _, _, problems = parsed(kind.path, f"schema_version: {kind.model.FORMAT}\n{secrets}", kind.model)

    assert problems
    assert secret_in(str(SpecError("laptop", problems))) == ""


@pytest.mark.parametrize(
    "text",
    [
        f"password: {CANARY}: x",
        f"password: &{CANARY} x",
        f"password: !{CANARY} x",
        f"password: @{CANARY}",
        f"password: '{CANARY}",
        f'password: "\\{CANARY}"',
        f"a: {{password: {CANARY}",
        f"password: [{CANARY}",
        f"password: |{CANARY}",
        f"%{CANARY}\n---\na: 1",
        f"password:\n\t{CANARY}",
        f"  password: {CANARY}\n a: 1",
        f"password: {CANARY}\npassword: {CANARY}",
        f"<<<<<<< {CANARY}",
        f"-password: {CANARY}",
    ],
)
def test_no_parse_error_repeats_a_secret(text: str) -> None:
    _, _, problems = parsed("region.yaml", f"schema_version: 1\n{text}\n", KINDS[0].model)

    assert problems
    assert secret_in(str(SpecError("laptop", problems))) == ""


@pytest.mark.parametrize("form", [form for form in CANARIES if "\n" not in form])
def test_no_report_of_an_inventory_repeats_a_secret(form: str) -> None:
    cell = f'"{form}"' if "," in form else form
    rows = [",".join(cell if at == column else "1" for at in ALL_COLUMNS) for column in ALL_COLUMNS]
    reader = InventoryReader("inventory/hall-a.csv", "a")
    reader.read("\n".join([",".join(ALL_COLUMNS), *rows]) + "\n")
    header = InventoryReader("inventory/hall-a.csv", "a")
    header.read(f"{form},host\n")

    assert len(reader.problems) > len(HostSpec.model_fields)
    assert secret_in(str(SpecError("laptop", [*reader.problems, *header.problems]))) == ""


def _yaml(document: Any) -> str:
    return yaml.safe_dump(document, sort_keys=False, width=100)
