"""A temporary Pulumi project with its own state; the default program declares the sets of a JSON file."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jacquard.lab.toolchain import environment
from jacquard.machine import paths
from tests.support.machine.outcome import Outcome

TYPE = "jacquard:index:ObjectSet"
PROGRAM = f"""
import json
import os
from pathlib import Path

import pulumi


class Provider(pulumi.ProviderResource):
    def __init__(self, name):
        super().__init__("jacquard", name, {{"kubeconfig": os.environ["KUBECONFIG"], "clusterIdentifier": "test"}})


class ObjectSet(pulumi.CustomResource):
    def __init__(self, name, inputs, opts):
        super().__init__("{TYPE}", name, inputs, opts)


cluster = Provider("cluster")
for name, inputs in json.loads(Path("sets.json").read_text()).items():
    ObjectSet(name, inputs, pulumi.ResourceOptions(provider=cluster, import_=inputs.pop("import", None)))
"""


class Project:
    """One stack named ``test``, driven by the ``pulumi`` command."""

    def __init__(self, folder: Path, kubeconfig: Path, program: str = PROGRAM) -> None:
        self.folder = folder
        self.backend = folder / "state"
        self.backend.mkdir(parents=True)
        (folder / "__main__.py").write_text(program)
        settings = {
            "name": "sets",
            "runtime": {"name": "python", "options": {"virtualenv": str(paths.VENV)}},
            "plugins": {"providers": [{"name": "jacquard", "path": str(paths.VENV / "bin")}]},
        }
        (folder / "Pulumi.yaml").write_text(json.dumps(settings))
        self.variables = {
            **environment.process("test", backend_url=f"file://{self.backend}?metadata=skip"),
            "PULUMI_CONFIG_PASSPHRASE": environment.REHEARSAL_PASSPHRASE,
            "KUBECONFIG": str(kubeconfig),
            "NO_COLOR": "1",
        }
        self.init()

    def init(self) -> None:
        """Create the stack with an empty state."""
        outcome = self.pulumi("stack", "init", "test")
        assert outcome.code == 0, outcome.text

    def lose_state(self) -> None:
        """Delete the file with the stack's state and create an empty one."""
        [file] = self.backend.rglob("test.json")
        file.unlink()
        self.init()

    def declare(self, sets: Mapping[str, Mapping[str, Any]]) -> None:
        """Set the sets that the program declares: inputs by resource name, with ``import`` to import an id."""
        (self.folder / "sets.json").write_text(json.dumps(sets))

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start ``pulumi`` in a process group of its own."""
        return subprocess.Popen(
            ["pulumi", *arguments, "--non-interactive"],
            cwd=self.folder,
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def pulumi(self, *arguments: str, **variables: str) -> Outcome:
        """Run one ``pulumi`` command line."""
        process = self.start(*arguments, **variables)
        try:
            stdout, stderr = process.communicate()
        except BaseException:
            process.send_signal(signal.SIGKILL)
            raise
        return Outcome(process.returncode, stdout, stderr)

    def up(self, *arguments: str, **variables: str) -> Outcome:
        """Run ``pulumi up`` without its preview."""
        return self.pulumi("up", "-s", "test", "--yes", "--skip-preview", *arguments, **variables)

    def preview(self, *arguments: str, **variables: str) -> Outcome:
        """Run ``pulumi preview``."""
        return self.pulumi("preview", "-s", "test", *arguments, **variables)

    def resources(self) -> dict[str, dict[str, Any]]:
        """Return the object sets in the state, by name."""
        outcome = self.pulumi("stack", "export", "-s", "test")
        assert outcome.code == 0, outcome.text
        found = json.loads(outcome.stdout)["deployment"].get("resources") or ()
        return {one["urn"].rpartition("::")[2]: one for one in found if one["type"] == TYPE}
