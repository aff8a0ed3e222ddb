"""Rejects credentials in sets, because members are stored in the state and shown in previews."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jacquard.providers.rpc.paths import Path, leaves

HOLDERS = {("", "Secret"), ("metal.ironcore.dev", "BMCSecret")}
"""Kinds that contain a credential, by group."""
_LITERAL = {"password", "passwd", "passphrase"}
_LOGIN = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_REMEDY = "let a secret store write it into the cluster and reference it here by name"


def problems(body: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path of every credential in a member, without quoting its value."""
    holder = str(body["apiVersion"]).rpartition("/")[0], body["kind"]
    if holder in HOLDERS:
        yield (*path, "kind"), f"a {body['kind']} contains a credential and cannot be a member of a set; {_REMEDY}"
        return
    for at, value in leaves(body, path):
        if isinstance(value, str) and isinstance(at[-1], str) and at[-1].lower() in _LITERAL and value:
            yield at, f"is a credential in clear text; {_REMEDY}"
        elif isinstance(value, str) and _LOGIN.search(value):
            yield at, f"is an address with credentials; {_REMEDY}"
