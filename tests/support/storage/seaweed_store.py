"""SeaweedFS: a real store in one process, and its administrator's shell."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from jacquard.lab.rehearsal import ports
from tests.support.machine.built_programs import built
from tests.support.machine.scaled_timeout import ScaledTimeout
from tests.support.storage.s3_requests import Answer, KeyPair, send

ADMINISTRATOR = KeyPair("administrator", "of-the-administrator")
_START_SECONDS = 60.0
_POLL_SECONDS = 0.2
_FORBIDDEN = 403


class SeaweedStore:
    """Master, volumes, filer and S3 gateway in a folder; `stop` ends the process."""

    def __init__(self, folder: Path) -> None:
        self._program = built("weed")
        (folder / "data").mkdir(parents=True)
        self._folder = folder
        self._master, self._filer, s3, volume, *grpc, metrics = ports.free(9)
        self.url = f"http://{ports.LOOPBACK}:{s3}"
        self._grpc = dict(zip(("master", "filer", "s3", "volume"), grpc, strict=True))
        options = {
            "dir": folder / "data",
            "ip": ports.LOOPBACK,
            "ip.bind": ports.LOOPBACK,
            "master.port": self._master,
            "filer.port": self._filer,
            "s3.port": s3,
            "volume.port": volume,
            **{f"{part}.port.grpc": port for part, port in self._grpc.items()},
            "s3.port.iceberg": 0,
            "metricsPort": metrics,
            "master.volumeSizeLimitMB": 8,  # A volume reserves its disk space on creation.
            "volume.max": 40,
        }
        arguments = [f"-{name}={value}" for name, value in options.items()]
        with (folder / "log").open("ab") as log:
            command = [self._program, "server", "-filer", "-s3", *arguments]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"HOME": str(folder)})
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Kill the process, since SeaweedFS takes half a minute to end and its data are not used again."""
        self._process.kill()
        self._process.wait()

    def shell(self, command: str) -> str:
        """Run a command of ``weed shell`` and return its output; a failed command is an error of the test."""
        output = self.run(command)
        assert "error:" not in output, f"{command}: {output}"
        return output

    def run(self, command: str) -> str:
        """Run a command of ``weed shell`` and return its output, also if it failed."""
        master = f"-master={ports.LOOPBACK}:{self._master}.{self._grpc['master']}"
        filer = f"-filer={ports.LOOPBACK}:{self._filer}.{self._grpc['filer']}"
        done = subprocess.run(
            [self._program, "shell", master, filer],
            input=f"{command}\n",
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"HOME": str(self._folder)},
        )
        return done.stdout + done.stderr

    def send(self, keys: KeyPair | None, method: str, path: str, *, body: bytes = b"", query: str = "") -> Answer:
        """Send a request to the S3 gateway."""
        return send(self.url, method, path, keys=keys, body=body, query=query)

    def until(self, status: int, keys: KeyPair, method: str, path: str, *, body: bytes = b"") -> None:
        """Repeat a request until it has ``status``: the gateway applies changes of users and quotas with a delay."""
        patience = ScaledTimeout(_START_SECONDS)
        while (answer := self.send(keys, method, path, body=body)).status != status:
            assert not patience.is_over(), f"{method} {path}: {answer}"
            time.sleep(_POLL_SECONDS)

    def _wait(self) -> None:
        """Wait until the gateway has loaded the administrator, and so rejects anonymous requests."""
        patience, known = ScaledTimeout(_START_SECONDS), False
        while True:
            try:
                if not known:
                    pair = f"-access_key={ADMINISTRATOR.access} -secret_key={ADMINISTRATOR.secret}"
                    known = "error" not in self.run(f"s3.configure -user=admin {pair} -actions=Admin -apply")
                if known and self.send(None, "GET", "/").status == _FORBIDDEN:
                    return
            except OSError:
                pass
            assert self._process.poll() is None, self._output()
            assert not patience.is_over(), self._output()
            time.sleep(_POLL_SECONDS)

    def _output(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-5000:]
