"""Public SSH keys: OpenSSH's format is accepted; truncated keys and other kinds are rejected."""

from __future__ import annotations

import base64

import pytest

from components.specs.ssh_text import TYPES, ssh_key


def packed(*parts: bytes) -> str:
    return base64.b64encode(b"".join(len(part).to_bytes(4) + part for part in parts)).decode()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("comment", ["", " ops@cloud.example"])
def test_a_complete_key_is_accepted_unchanged(kind: str, comment: str) -> None:
    key = f"{kind} {packed(kind.encode(), bytes(32))}{comment}"

    assert ssh_key(key) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ssh-ed25519",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        f"ssh-dss {packed(b'ssh-dss', bytes(32))}",
        f"ssh-rsa {packed(b'ssh-ed25519', bytes(32))}",
        f"ssh-ed25519 {packed(b'ssh-ed25519')}",
        f"ssh-ed25519 {packed(b'ssh-ed25519', bytes(32))[:-8]}",
        f"ssh-ed25519 {packed(b'ssh-ed25519', bytes(32))[:-3]}",
        f"ssh-ed25519 {packed(b'ssh-ed25519', bytes(32))}\nssh-ed25519",
        f"ssh-ed25519 {packed(b'ssh-ed25519', bytes(32))} two words",
        f"no-pty ssh-ed25519 {packed(b'ssh-ed25519', bytes(32))}",
    ],
)
def test_an_incomplete_key_is_rejected_with_a_remedy(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be a complete public SSH key .*; write the content of the \.pub"):
        ssh_key(text)
