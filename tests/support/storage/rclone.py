"""Debian's rclone, which runs containers that copy files to a bucket."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.machine.debian import unpacked


class Rclone:
    """Runs the command of a container with rclone, with its mounts as folders of this machine."""

    def __init__(self) -> None:
        self._tools = unpacked("rclone", ("rclone",))

    def run(
        self, container: Mapping[str, Any], secrets: Mapping[str, Mapping[str, str]], mounts: Mapping[str, Path]
    ) -> subprocess.CompletedProcess[str]:
        """Run ``container`` until it exits, with ``secrets`` by name and folders by mount path.

        It has only the variables of the container: no home folder and no file of settings.
        """
        program, *arguments = (*container["command"], *container["args"])
        found = {
            item["name"]: item["value"] if "value" in item else secrets[ref["name"]][ref["key"]]
            for item in container["env"]
            for ref in (item.get("valueFrom", {}).get("secretKeyRef", {}),)
        }
        variables = {name: _here(value, mounts) for name, value in found.items()}
        return subprocess.run(
            [self._tools.root / "usr/bin" / program, *(_here(argument, mounts) for argument in arguments)],
            env={"PATH": os.environ["PATH"], **variables},
            capture_output=True,
            text=True,
            check=False,
        )


def _here(text: str, mounts: Mapping[str, Path]) -> str:
    for path, folder in mounts.items():
        if text == path or text.startswith(f"{path}/"):
            return f"{folder}{text.removeprefix(path)}"
    return text
