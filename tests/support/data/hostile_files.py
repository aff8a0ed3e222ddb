"""Files with unusual or malicious content, and the report of each."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from components.specs.reading.inventory_csv import COLUMNS

ACME = "tenants/acme.yaml"
HALL = "inventory/hall-a.csv"
NUMBERS = "allocations.lock.yaml"
HEADER = ",".join(COLUMNS)
ROW = (
    "a01,1,a01-u01,h100-ib-8,G26A0101,redfish-virtualmedia+https://10.1.1.1/redfish/v1/Systems/1,bmc-a01,"
    '"02:00:00:01:01:01",MT26A0101,leaf-a1'
)
BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50_000_000)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(target: str) -> Callable[[Path], None]:
    def link(path: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    return link


def _rows(row: str, count: int) -> str:
    return f"{HEADER}\n" + f"{row}\n" * count


HOSTILE_FILES: dict[str, tuple[str, str | bytes | Callable[[Path], None], str]] = {
    "50 MB": (ACME, _sparse, "  tenants/acme.yaml  has 50.0 MB, the limit is 5 MB; split the file"),
    "50 MB of rows": (HALL, _sparse, "  inventory/hall-a.csv  has 50.0 MB, the limit is 5 MB; split the file"),
    "a workbook": (
        HALL,
        b"PK\x03\x04\x14\x00\x06\x00\x08\x00",
        (
            "  inventory/hall-a.csv  is a ZIP archive, such as a workbook of a spreadsheet; save its content as a text"
            " file in UTF-8"
        ),
    ),
    "a compressed file": (
        ACME,
        b"\x1f\x8b\x08\x00\x00",
        "  tenants/acme.yaml  is compressed with gzip; save its content as a text file in UTF-8",
    ),
    "one endless line": (
        ACME,
        "tenant: " + "x" * 4_900_000,
        "  tenants/acme.yaml:1  has 4,900,008 characters in one line, the limit is 4,000; break the line",
    ),
    "one endless row": (
        HALL,
        f"{HEADER}\n" + "," * 4_900_000,
        "  inventory/hall-a.csv:2  has 4,900,000 characters in one line, the limit is 4,000; break the line",
    ),
    "nothing but line ends": (
        HALL,
        "\n" * 4_900_000,
        "  inventory/hall-a.csv  has 4,900,000 lines, the limit is 200,000; split the file",
    ),
    "200 levels of lists": (
        ACME,
        "a: " + "[" * 200 + "]" * 200 + "\n",
        "  tenants/acme.yaml:1  is nested more than 50 levels deep; no file here needs that",
    ),
    "200 levels of mappings": (
        ACME,
        "".join(" " * depth + "a:\n" for depth in range(200)),
        "  tenants/acme.yaml:51  is nested more than 50 levels deep; no file here needs that",
    ),
    "a bomb of aliases": (
        ACME,
        BOMB,
        "  tenants/acme.yaml:1  a0: anchors (&) and aliases (*) are not supported; write the value out",
    ),
    "too many values": (
        ACME,
        "a:\n" + "  - [1, 2, 3]\n" * 50_000,
        "  tenants/acme.yaml:5001  has more than 20,000 values; split the file",
    ),
    "a lock file of nothing but mistakes": (
        NUMBERS,
        "schema_version: 1\nhosts:\n" + "".join(f"  a{n}-u01: 1\n" for n in range(70_000)),
        "  allocations.lock.yaml:1  has 70,000 mistakes and is probably a different file; restore the original file",
    ),
    "an endless quote": (ACME, 'a: "' + "x\n" * 90_000, "  tenants/acme.yaml:1  a quote is not closed; close it"),
    "a python object": (
        ACME,
        'tenant: !!python/object/apply:os.system ["true"]\n',
        "  tenants/acme.yaml:1  tenant: tags are not supported; remove !!python/object/apply:os.system",
    ),
    "an include": (
        ACME,
        "tenant: !include ../../secrets.yaml\n",
        "  tenants/acme.yaml:1  tenant: tags are not supported; remove !include",
    ),
    "a second document": (
        ACME,
        "tenant: acme\n---\ntenant: other\n",
        "  tenants/acme.yaml:2  has a second document or a % directive; write one plain document per file",
    ),
    "a directive": (
        ACME,
        "%TAG ! tag:evil,2026:\n---\ntenant: acme\n",
        "  tenants/acme.yaml:1  has a second document or a % directive; write one plain document per file",
    ),
    "NUL": (ACME, "tenant: ac\0me\n", "  tenants/acme.yaml:1  has a NUL character in column 11; remove it"),
    "NUL in a row": (HALL, f"{HEADER}\na\0\n", "  inventory/hall-a.csv:2  has a NUL character in column 2; remove it"),
    "a byte order mark": (
        ACME,
        b"\xef\xbb\xbftenant: acme\n",
        "  tenants/acme.yaml:1  starts with a byte order mark; save the file as UTF-8 without one",
    ),
    "UTF-16": (
        ACME,
        "tenant: acme\n".encode("utf-16"),
        "  tenants/acme.yaml:1  starts with a byte order mark; save the file as UTF-8 without one",
    ),
    "bad UTF-8": (
        ACME,
        b"schema_version: 1\ntenant: \xff\n",
        "  tenants/acme.yaml:2  is not UTF-8 (byte 0xff); save the file as UTF-8",
    ),
    "overlong UTF-8": (
        ACME,
        b"tenant: \xc0\xaf\n",
        "  tenants/acme.yaml:1  is not UTF-8 (byte 0xc0); save the file as UTF-8",
    ),
    "line ends of Windows": (
        ACME,
        "schema_version: 1\r\ntenant: acme\r\n",
        "  tenants/acme.yaml:1  has a carriage return in column 18; save the file with plain line ends (LF)",
    ),
    "a tab": (
        ACME,
        "vpcs:\n\t- name: a\n",
        "  tenants/acme.yaml:2  has a tab in column 1; write spaces, or a comma between values of a row",
    ),
    "a colour of the terminal": (
        ACME,
        "tenant: \x1b[31macme\n",
        "  tenants/acme.yaml:1  has the invisible character U+001B (a control character) in column 9; remove it",
    ),
    "text from right to left": (
        HALL,
        _rows(ROW.replace("G26", "G\u202e26"), 1),
        "  inventory/hall-a.csv:2  has the invisible character U+202E (right-to-left override) in column 26; remove it",
    ),
    "a colour in an escape": (
        ACME,
        'tenant: "ac\\x1b[31mme"\n',
        "  tenants/acme.yaml:1  tenant: contains an invisible character (got 'ac\\x1b[31mme'); remove it",
    ),
    "an invisible key": (
        NUMBERS,
        'schema_version: 1\nhosts:\n  "a01\\u200b": acme-train/train\n',
        "  allocations.lock.yaml:3  hosts.a01\\u200b: contains an invisible character (got 'a01\\u200b'); remove it",
    ),
    "a pipe": (ACME, _pipe, "  tenants/acme.yaml  is not a file; replace it with a file"),
    "a folder": (HALL, _folder, "  inventory/hall-a.csv  is not a file; replace it with a file"),
    "a device": (
        ACME,
        _link("/dev/zero"),
        "  tenants/acme.yaml  is a symbolic link to a file outside environments/; replace it with the file",
    ),
    "a link out of the folder": (
        HALL,
        _link("/etc/passwd"),
        "  inventory/hall-a.csv  is a symbolic link to a file outside environments/; replace it with the file",
    ),
    "a link that climbs out": (
        ACME,
        _link("../../../../../../../../../../../../etc/passwd"),
        "  tenants/acme.yaml  is a symbolic link to a file outside environments/; replace it with the file",
    ),
    "a link to itself": (
        ACME,
        _link("acme.yaml"),
        "  tenants/acme.yaml  is a circular symbolic link; replace it with the file",
    ),
    "a link to nothing": (
        ACME,
        _link("gone.yaml"),
        "  tenants/acme.yaml  is a broken symbolic link; replace it with the file",
    ),
    "columns in another order": (
        HALL,
        f"slot,rack,{HEADER.split(',', 2)[2]}\n",
        f"  inventory/hall-a.csv:1  the header is wrong (in another order); write {HEADER}",
    ),
    "a column twice": (
        HALL,
        f"{HEADER},leaf\n",
        f"  inventory/hall-a.csv:1  the header is wrong (duplicate: leaf); write {HEADER}",
    ),
    "a formula": (
        HALL,
        _rows(ROW.replace("G26A0101", "=HYPERLINK(0)"), 1),
        "  inventory/hall-a.csv:2  serial: starts like a spreadsheet formula (got '=HYPERLINK(0)'); remove '='",
    ),
    "a quote that ends too early": (
        HALL,
        _rows(ROW.replace("G26A0101", '"G26"A0101'), 1),
        "  inventory/hall-a.csv:2  has a quote that ends too early; put whole values in quotes",
    ),
}
"""File, its content, and the problem."""

FILES_OF_MISTAKES: dict[str, tuple[str, str, str]] = {
    "rows without the last quote": (
        HALL,
        _rows(ROW.replace("leaf-a1", '"leaf-a1'), 30_000),
        "inventory/hall-a.csv:7      and 9995 more like it (lines 7-10001)",
    ),
    "rows with a wrong number": (
        HALL,
        _rows(ROW.replace(",1,", ",one,", 1), 30_000),
        "inventory/hall-a.csv:7      slot: and 9995 more like it (lines 7-10001)",
    ),
    "rows that are all wrong": (
        HALL,
        _rows(ROW.replace("h100", "H100").replace("leaf", "LEAF").replace(":01", ":Z1"), 30_000),
        "inventory/hall-a.csv:7  boot_mac: and 3329 more like it (lines 7-3335)",
    ),
    "lines without columns": (
        HALL,
        f"{HEADER}\n" + "x\n" * 90_000,
        "inventory/hall-a.csv:7      and 9995 more like it (lines 7-10001)",
    ),
    "keys that nobody knows": (
        ACME,
        "vpcs:\n- name: acme\n" + "".join(f"  key-{number}: 1\n" for number in range(9_000)),
        "tenants/acme.yaml:8  vpcs[0].key-5: and 8995 more like it (lines 8-9002)",
    ),
    "values that two readers read differently": (
        ACME,
        "".join(f"key-{number}: on\n" for number in range(19_000)),
        "tenants/acme.yaml:6  key-5: and 9995 more like it (lines 6-10000)",
    ),
}
"""File, text, and a line of the report."""
