"""Public SSH keys, as a line of ``authorized_keys`` has them."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

TYPES = (
    "ssh-ed25519",
    "sk-ssh-ed25519@openssh.com",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
)
"""Types of keys that OpenSSH takes today."""
SSH_KEY = f"^({'|'.join(map(re.escape, TYPES))}) [A-Za-z0-9+/]+={{0,2}}( [-A-Za-z0-9_.@+:]{{1,64}})?$"
_FORM = re.compile(SSH_KEY)
_LENGTH = 4
_RULE = "must be a whole public SSH key of one line: type, key, a comment without blanks"
_WRITE = "write what the file has that ends in .pub, like that of ssh-keygen -t ed25519"


def ssh_key(value: str) -> str:
    """Return ``value`` if it is a public SSH key, nothing of which is missing.

    Raises:
        ValueError: with the form that keys have, and where one is found.
    """
    if _FORM.fullmatch(value):
        kind, text = value.split()[:2]
        if _parts(text)[:1] == [kind.encode()]:
            return value
    msg = f"{_RULE}; {_WRITE}"
    raise ValueError(msg)


def _parts(text: str) -> list[bytes]:
    """Return the strings that a key is made of, each after its length (RFC 4253, 6.6); none when one is cut off."""
    try:
        left = base64.b64decode(text, validate=True)
    except binascii.Error:
        return []
    parts = []
    while left:
        length = int.from_bytes(left[:_LENGTH])
        part, left = left[_LENGTH : _LENGTH + length], left[_LENGTH + length :]
        if len(part) < max(1, length):
            return []
        parts.append(part)
    return parts if len(parts) > 1 else []


SshKey = Annotated[
    str,
    AfterValidator(ssh_key),
    WithJsonSchema({"type": "string", "pattern": SSH_KEY, "examples": ["ssh-ed25519 AAAA... ops@cloud.example"]}),
]
"""Public SSH key, as one line of ``authorized_keys``."""
