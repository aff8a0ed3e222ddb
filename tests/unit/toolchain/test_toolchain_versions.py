"""Versions are read from the output of tools, go.mod and the lock file."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.lab.toolchain import versions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go1.26.8", (1, 26, 8)),
        ("go1.27rc1", (1, 27, 0)),
        ("v3.259.0\n", (3, 259, 0)),
        ("v3.260.0-dev.1+ab12", (3, 260, 0)),
        ("git version 2.39.5 (Apple Git-154)", (2, 39, 5)),
        ("GNU Make 4.3\nBuilt for x86_64", (4, 3, 0)),
        ("devel", None),
        ("", None),
    ],
)
def test_a_version_is_parsed_from_the_output_of_a_tool(text: str, expected: versions.Version | None) -> None:
    assert versions.parse(text) == expected


def test_versions_compare_by_number_not_by_letter() -> None:
    older, newer = versions.parse("v3.99.0"), versions.parse("v3.259.0")
    assert older is not None
    assert newer is not None
    assert older < newer


def test_a_module_version_is_read_from_go_mod(tmp_path: Path) -> None:
    go_mod = tmp_path / "go.mod"
    go_mod.write_text("module m\n\nrequire a.org/x v1.2.3\n\nrequire (\n\ta.org/x/y v2.0.0 // indirect\n)\n")

    assert versions.of_module(go_mod, "a.org/x") == "v1.2.3"
    assert versions.of_module(go_mod, "a.org/x/y") == "v2.0.0"
    with pytest.raises(LookupError) as caught:
        versions.of_module(go_mod, "a.org/z")
    assert str(caught.value) == f"{go_mod} does not require a.org/z"


def test_a_package_version_is_read_from_the_lock_file(tree: Path) -> None:
    (tree / "requirements.lock").write_text("pulumi-policy==1.21.0 \\\n    --hash=sha256:00\npulumi==3.259.0 \\\n")

    assert versions.of_package("pulumi") == "3.259.0"
    with pytest.raises(LookupError) as caught:
        versions.of_package("policy")
    assert str(caught.value) == f"{tree / 'requirements.lock'} does not pin policy"
