"""The token of a forge: only the forge gets it, and no other login replaces it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.forges.fake_forge import TOKEN, FakeForge
from tests.support.forges.forge_runs import Runs


def test_the_token_is_shown_to_the_forge_only(
    forge: FakeForge, github: Runs, capfd: pytest.CaptureFixture[str]
) -> None:
    github.write("1.1", "first")
    github.write("2.1", "second")

    assert {headers["Authorization"] for headers in forge.headers} == {f"Bearer {TOKEN}"}
    assert not any(TOKEN in path for _, path in forge.requests)
    assert capfd.readouterr() == ("", "")


def test_a_netrc_file_does_not_replace_the_token(
    forge: FakeForge, github: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login other password other\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))

    github.write("1.1", "first")
    assert {headers["Authorization"] for headers in forge.headers} == {f"Bearer {TOKEN}"}
