"""Public SSH keys in the form of an ``authorized_keys`` line."""

import base64
import binascii
import re
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from components.specs.secret_text import HiddenValueError

TYPES = (
    "ssh-ed25519",
    "sk-ssh-ed25519@openssh.com",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
)
"""Key types that current OpenSSH accepts."""
SSH_KEY = f"^({'|'.join(map(re.escape, TYPES))}) [A-Za-z0-9+/]+={{0,2}}( [-A-Za-z0-9_.@+:]{{1,64}})?$"
_FORM = re.compile(SSH_KEY)
_LENGTH = 4
_RULE = "must be a complete public SSH key on one line: type, key, and a comment without spaces"
_WRITE = "write the content of the .pub file, such as the one that ssh-keygen -t ed25519 creates"


def ssh_key(value: str) -> str:
    """Return ``value`` if it is a complete public SSH key.

    Raises:
        ValueError: ``value`` is not a key. The message describes the accepted form. It is a `HiddenValueError` if
            ``value`` does not start like a public key, because users paste private keys.
    """
    if _FORM.fullmatch(value):
        kind, text = value.split()[:2]
        if _parts(text)[:1] == [kind.encode()]:
            return value
    msg = f"{_RULE}; {_WRITE}"
    raise (ValueError if value.startswith(TYPES) else HiddenValueError)(msg)


def _parts(text: str) -> list[bytes]:
    """Return the length-prefixed strings of a key (RFC 4253, 6.6); an empty list if a string is truncated."""
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
"""Public SSH key, one line of ``authorized_keys``."""
