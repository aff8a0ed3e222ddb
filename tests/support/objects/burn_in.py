"""Test reports of hosts, as a burn-in job writes them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

PASSED: dict[str, Any] = {
    "schema_version": 1,
    "tool": "burn-in 3.2",
    "started": "2026-11-20T10:00:00Z",
    "finished": "2026-11-21T10:00:00Z",
    "result": "pass",
    "tests": [
        {"name": "nccl_loopback", "result": "pass", "value": 391.5, "unit": "GB/s"},
        {"name": "memory", "result": "pass"},
    ],
}


def written(path: Path, host: str, **fields: Any) -> Path:
    """Write the report of a passed test of ``host``, with ``fields`` overridden; return its file."""
    path.write_text(json.dumps({**PASSED, "host": host, **fields}), encoding="utf-8")
    return path


def digest_of(path: Path) -> str:
    """Return the digest of a file in the notation of lock files."""
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
