"""Selects the Python interpreter of a program, and lists the interpreter's installed packages."""

import base64
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jacquard.providers.errors import ProviderError


class InterpreterError(ProviderError):
    """A program has no usable Python; the message contains the remedy."""


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A Pulumi plugin that an installed package requires in its ``pulumi-plugin.json``."""

    name: str
    version: str
    server: str = ""
    parameterization: tuple[str, str, bytes] | None = None
    """Name, version and value of the package that a parameterized plugin provides."""


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """A Python interpreter and its virtual environment, if any."""

    python: Path
    virtualenv: Path | None

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return ``base`` with the variables of the activated virtual environment."""
        environment = dict(base)
        if self.virtualenv is not None:
            environment["VIRTUAL_ENV"] = str(self.virtualenv)
            environment["PATH"] = os.pathsep.join((str(self.python.parent), base.get("PATH", os.defpath)))
            environment.pop("PYTHONHOME", None)
        return environment

    def describe(self) -> tuple[list[str], str]:
        """Return the interpreter's import path and its version.

        Raises:
            InterpreterError: the interpreter does not run.
        """
        program = "import json,platform,sys; print(json.dumps([sys.path, platform.python_version()]))"
        try:
            answer = subprocess.run(
                (str(self.python), "-I", "-c", program), check=True, capture_output=True, text=True, timeout=60
            )
        except (OSError, subprocess.SubprocessError) as error:
            message = f"{self.python} does not run: {error}; recreate the virtual environment"
            raise InterpreterError(message) from error
        folders, version = json.loads(answer.stdout)
        return folders, version

    def plugins(self) -> list[Plugin]:
        """Return the plugins that the installed packages require, sorted by name."""
        folders, _ = self.describe()
        plugins = [plugin for folder in folders for plugin in _plugins_in(Path(folder))]
        return sorted({plugin.name: plugin for plugin in reversed(plugins)}.values(), key=lambda plugin: plugin.name)

    def distributions(self, *, transitive: bool) -> list[tuple[str, str]]:
        """Return name and version of installed distributions; without ``transitive``, only those no other requires."""
        folders, _ = self.describe()
        installed = {_normal(package.name): package for package in importlib.metadata.distributions(path=folders)}
        if not transitive:
            needed = {name for package in installed.values() for name in _requirements(package)}
            installed = {name: package for name, package in installed.items() if name not in needed}
        return [(package.name, package.version) for _, package in sorted(installed.items())]


def find(root: str, options: Mapping[str, Any], environment: Mapping[str, str]) -> Interpreter:
    """Select the Python interpreter of a program.

    Args:
        root: folder of Pulumi.yaml, to which a relative ``virtualenv`` refers.
        options: ``runtime.options`` of Pulumi.yaml.
        environment: environment variables; PULUMI_PYTHON_CMD applies if no virtual environment is configured.

    Raises:
        InterpreterError: the configured virtual environment or toolchain cannot be used.
    """
    toolchain = options.get("toolchain", "pip")
    if toolchain != "pip":
        message = (
            "runtime.options.toolchain: this stand-in for pulumi-language-python supports only pip "
            f"(got '{toolchain}'); remove the option, or install the vendor's pulumi"
        )
        raise InterpreterError(message)
    folder = options.get("virtualenv")
    if folder:
        virtualenv = Path(root, folder)
        python = virtualenv / "bin" / "python"
        if not python.exists():
            message = (
                f"runtime.options.virtualenv: {virtualenv} has no bin/python; "
                "create it with `make setup`, or correct the option in Pulumi.yaml"
            )
            raise InterpreterError(message)
        return Interpreter(python=python, virtualenv=virtualenv)
    command = environment.get("PULUMI_PYTHON_CMD") or "python3"
    ambient = shutil.which(command) or sys.executable
    return Interpreter(python=Path(ambient), virtualenv=None)


def _plugins_in(folder: Path) -> Iterator[Plugin]:
    for file in sorted(folder.glob("*/pulumi-plugin.json")):
        data = json.loads(file.read_text())
        if not data.get("resource"):
            continue
        package = data.get("parameterization")
        yield Plugin(
            name=data.get("name") or file.parent.name.removeprefix("pulumi_").replace("_", "-"),
            version=data.get("version", ""),
            server=data.get("server", ""),
            parameterization=package
            and (package["name"], package["version"], base64.b64decode(package.get("value", ""))),
        )


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _requirements(distribution: importlib.metadata.Distribution) -> Iterator[str]:
    for requirement in distribution.requires or ():
        if "extra ==" in requirement:
            continue
        name = requirement
        for end in " ;<>=!~[(":
            name = name.partition(end)[0]
        yield _normal(name)
