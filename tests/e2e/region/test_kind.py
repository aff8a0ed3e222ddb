"""The real kind accepts our configuration with strict fields, and derives the container and kubeadm settings.

No daemon is needed: a program in place of ``docker`` answers as a container that starts, records the commands of kind,
and fails where kubeadm would run.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from jacquard.lab.rehearsal import kind_configuration
from jacquard.lab.toolchain import binaries
from jacquard.lab.toolchain.kind import DEFAULT

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

NAME = "laptop-management-12345678"
INFO = '{"CgroupVersion": "2", "MemoryLimit": true, "PidsLimit": true, "CPUShares": true, "SecurityOptions": []}'
DOCKER = f"""#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in
  -v) echo "Docker version 28.2.2, build x";;
  info*SecurityOptions*) echo "[]";;
  "info --format "*) echo '{INFO}';;
  "network ls"*) echo 0123;;
  "network inspect"*) echo '[{{"Id": "0123", "Containers": {{}}}}]';;
  logs*) echo "Reached target Multi-User System";;
  "ps -a"*) [ -s "$CREATED" ] && echo {NAME}-control-plane;;
  run*) echo yes > "$CREATED";;
  *"cat /kind/version") echo {DEFAULT.kubernetes};;
  *"/dev/stdin /kind/kubeadm.conf") cat > "$KUBEADM";;
  *"kubeadm init"*) echo "stopped here" >&2; exit 1;;
  "inspect -f {{{{range"*) echo "172.18.0.2,";;
  inspect*io.x-k8s.kind.role*) echo control-plane;;
esac
exit 0
"""


def create(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    programs = folder / "bin"
    programs.mkdir()
    (programs / "docker").write_text(DOCKER)
    (programs / "docker").chmod(0o755)
    (folder / "kind.yaml").write_text(text)
    files = {name: str(folder / name.lower()) for name in ("CALLS", "CREATED", "KUBEADM")}
    environment = {**os.environ, **files, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    command = (str(binaries.path("kind")), "create", "cluster", "--name", NAME, "--config", str(folder / "kind.yaml"))
    return subprocess.run(
        (*command, "--kubeconfig", str(folder / "kubeconfig")),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_kind_accepts_the_configuration(tmp_path: Path) -> None:
    ended = create(tmp_path, kind_configuration.text(NAME, DEFAULT.name))

    calls = (tmp_path / "calls").read_text().splitlines()
    [started] = [call for call in calls if call.startswith("run ")]
    assert started.endswith(f" {DEFAULT.name}"), ended.stderr
    assert "--publish=127.0.0.1:" in started
    [settings] = [
        document
        for document in yaml.safe_load_all((tmp_path / "kubeadm").read_text())
        if document["kind"] == "InitConfiguration"
    ]
    assert [taint["key"] for taint in settings["nodeRegistration"]["taints"]] == [
        "node-role.kubernetes.io/control-plane",
        "jacquard.dev/real-node",
    ]
    assert "stopped here" in ended.stderr


def test_kind_refuses_an_unknown_field(tmp_path: Path) -> None:
    text = kind_configuration.text(NAME, DEFAULT.name).replace("role:", "roles:")

    ended = create(tmp_path, text)

    assert ended.returncode == 1
    assert "field roles not found in type v1alpha4.Node" in ended.stderr
    assert "run " not in (tmp_path / "calls").read_text()
