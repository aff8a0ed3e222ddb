"""Compares the Jacquard version that a repository of regions pins in `requirements.txt` with the installed version."""

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
    """Return the requirement that pins the installed version: by source address if known, otherwise by number."""
    installed = distribution(_PACKAGE)
    origin = _origin(installed)
    url = origin.get("url", "")
    if vcs := origin.get("vcs_info"):
        return f"{_PACKAGE} @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"{_PACKAGE} @ {url}" if url else f"{_PACKAGE}=={installed.version}"


def repinned(text: str) -> str:
    """Return the text of a `requirements.txt` in which the line of Jacquard pins the installed version."""
    lines = text.splitlines(keepends=True)
    return "".join(_repinned(line) for line in lines)


def _repinned(line: str) -> str:
    pin = _PIN.match(line.strip())
    if pin is None or _fits(pin[1], pin[2], distribution(_PACKAGE)):
        return line
    return line.replace(pin[0], requirement(), 1)


def is_of_this_machine(wanted: str) -> bool:
    """Return whether the requirement is a local path, which cannot be installed on other machines."""
    return wanted.partition(" @ ")[2].startswith(("file:", "git+file:"))


def check() -> None:
    """Check that the installed version matches the repository's pin, if there is one.

    Raises:
        SettingError: the versions differ.
    """
    project = paths.own()
    file = project / PIN_FILE if project else None
    if file is None or not file.is_file():
        return
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        pin = _PIN.match(line.strip())
        if pin and not _fits(pin[1], pin[2], distribution(_PACKAGE)):
            # Otherwise pip keeps an installed revision whose version number is that of the pinned revision.
            option = "--force-reinstall " if pin[1] == "@" else ""
            message = (
                f"{PIN_FILE}:{number}: pins {pin[0]}, but {requirement()} is installed; install the pinned version: "
                f".venv/bin/pip install {option}-r {PIN_FILE}, or pin the installed version: jacquard upgrade"
            )
            raise SettingError(message)


def _fits(sign: str, wanted: str, installed: Distribution) -> bool:
    if sign == "==":
        return wanted == installed.version
    origin = _origin(installed)
    if origin.get("dir_info", {}).get("editable"):
        return True  # an editable installation is used for work on Jacquard itself
    url, vcs = origin.get("url", ""), origin.get("vcs_info")
    if vcs is None:
        return bool(wanted.partition("#")[0] == url)
    revision = vcs.get("requested_revision")
    address = f"{vcs['vcs']}+{url}"
    addresses = {f"{address}@{vcs['commit_id']}", f"{address}@{revision}" if revision else address}
    return wanted.partition("#")[0] in addresses


def _origin(installed: Distribution) -> dict[str, Any]:
    """Return the source of the installed version (PEP 610); empty for a version from an index."""
    text = installed.read_text("direct_url.json")
    return dict(json.loads(text)) if text else {}
