"""Which Jacquard a repository of regions is made for, by its `requirements.txt`, and which one is installed."""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution, distribution
from typing import Any

from jacquard.machine import paths
from jacquard.machine.errors import SettingError

PIN_FILE = "requirements.txt"
_PACKAGE = "jacquard"
_PIN = re.compile(rf"{_PACKAGE}\s*(==|@)\s*([^\s;]+)")


def requirement() -> str:
    """Return what pins the installed version: where it came from, when that is an address, else its number."""
    installed = distribution(_PACKAGE)
    origin = _origin(installed)
    url = origin.get("url", "")
    if vcs := origin.get("vcs_info"):
        return f"{_PACKAGE} @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"{_PACKAGE} @ {url}" if url else f"{_PACKAGE}=={installed.version}"


def is_of_this_machine(wanted: str) -> bool:
    """Tell whether nobody else can install what is pinned: it is a path."""
    return wanted.partition(" @ ")[2].startswith(("file:", "git+file:"))


def check() -> None:
    """Pass when the installed version is the one that the repository pins, or it pins none.

    Raises:
        SettingError: it is another one.
    """
    project = paths.own()
    file = project / PIN_FILE if project else None
    if file is None or not file.is_file():
        return
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        found = _PIN.match(line.strip())
        if found and not _fits(found[1], found[2], distribution(_PACKAGE)):
            message = (
                f"{PIN_FILE}:{number}: pins {found[0]}, and {requirement()} is installed; install what is pinned: "
                f".venv/bin/pip install -r {PIN_FILE}, or pin what is installed"
            )
            raise SettingError(message)


def _fits(sign: str, wanted: str, installed: Distribution) -> bool:
    if sign == "==":
        return wanted == installed.version
    origin = _origin(installed)
    if origin.get("dir_info", {}).get("editable"):
        return True  # somebody works on Jacquard itself, and knows
    url, vcs = origin.get("url", ""), origin.get("vcs_info")
    if vcs is None:
        return bool(wanted.partition("#")[0] == url)
    asked = vcs.get("requested_revision")
    address = f"{vcs['vcs']}+{url}"
    return wanted.partition("#")[0] in {f"{address}@{vcs['commit_id']}", f"{address}@{asked}" if asked else address}


def _origin(installed: Distribution) -> dict[str, Any]:
    """Return where the installed version came from (PEP 610); nothing for one from an index."""
    text = installed.read_text("direct_url.json")
    return dict(json.loads(text)) if text else {}
