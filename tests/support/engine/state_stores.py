"""Real stores of the engine's state: an S3 server, and Debian's PostgreSQL, each with its data in one folder."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from jacquard.lab.rehearsal import ports
from tests.support.machine.built_programs import built
from tests.support.machine.debian import unpacked
from tests.support.machine.scaled_timeout import ScaledTimeout

_START_SECONDS = 30.0
_POLL_SECONDS = 0.1
_STATES = "states"
"""Name of the bucket or database."""


class StateStore(ABC):
    """A server that stores state; `stop` and `start` may be called repeatedly, and its data persist."""

    variables: Mapping[str, str]
    """Environment variables with the credentials of a user of the store."""
    wrong: Mapping[str, str]
    """Environment variables with credentials that the store rejects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        [self.port] = ports.free(1)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """Return the value of ``state.backend`` of a region."""

    @abstractmethod
    def locks(self) -> list[str]:
        """Return the paths of the engine's locks."""

    @abstractmethod
    def _serve(self) -> subprocess.Popen[bytes]:
        """Start the server."""

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        self._process = self._serve()
        patience = ScaledTimeout(_START_SECONDS)
        while not self._answers():
            assert self._process.poll() is None, f"{type(self).__name__} ended: {self._output()}"
            assert not patience.is_over(), f"{type(self).__name__} does not answer: {self._output()}"
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def _log(self) -> Path:
        return self.folder / "log"

    def _output(self) -> str:
        return self._log().read_text(errors="replace")


class S3(StateStore):
    """Versity's gateway, which serves folders as buckets."""

    variables = {"AWS_ACCESS_KEY_ID": "engine", "AWS_SECRET_ACCESS_KEY": "of-the-engine"}  # noqa: RUF012
    wrong = {**variables, "AWS_SECRET_ACCESS_KEY": "wrong"}  # noqa: RUF012

    def __init__(self, folder: Path) -> None:
        self._program = built("versitygw")
        super().__init__(folder)
        self._bucket = folder / "buckets" / _STATES
        # The gateway removes folders with their last object, and fails a request that needs one at that moment
        # (versitygw v1.8.0, backend/mkdir.go). S3 has no folders.
        kept = self._bucket / ".pulumi/locks/organization/jacquard"
        kept.mkdir(parents=True)
        (kept / "kept").touch()

    @property
    def url(self) -> str:
        """Return the URL of the bucket, with the options of gocloud.dev's S3 driver."""
        return f"s3://{_STATES}?region=us-east-1&endpoint=http://127.0.0.1:{self.port}&use_path_style=true"

    def locks(self) -> list[str]:
        """Return the paths of the engine's locks: each object is a file."""
        return [str(path.relative_to(self._bucket)) for path in self._bucket.glob(".pulumi/locks/**/*.json")]

    def _serve(self) -> subprocess.Popen[bytes]:
        own = {"ROOT_ACCESS_KEY": "engine", "ROOT_SECRET_KEY": "of-the-engine"}
        command = [self._program, "--quiet", "--port", f"127.0.0.1:{self.port}", "posix", self.folder / "buckets"]
        with self._log().open("ab") as log:
            return subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)


class Postgres(StateStore):
    """PostgreSQL. It refuses to run as root, so for root it runs in a user namespace that maps root to another user."""

    variables = {"PGPASSWORD": "of-the-engine"}  # noqa: RUF012
    wrong = {"PGPASSWORD": "wrong"}  # noqa: RUF012

    def __init__(self, folder: Path) -> None:
        self._tools = unpacked("postgresql", ("postgresql-15", "postgresql-client-15"))
        self._programs = self._tools.path("usr/lib/postgresql/15/bin")
        super().__init__(folder)
        (password := folder / "password").write_text(self.variables["PGPASSWORD"])
        settings = ("--username=engine", "--auth=scram-sha-256", f"--pwfile={password}", "--locale=C", "--no-sync")
        command = self._command("initdb", f"--pgdata={self._data}", *settings)
        done = subprocess.run(command, env=self._tools.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    @property
    def url(self) -> str:
        """Return the URL of the database, without the password."""
        return f"postgres://engine@127.0.0.1:{self.port}/postgres?sslmode=disable"

    def locks(self) -> list[str]:
        """Return the paths of the engine's locks: each object is a row (pulumi:pkg/backend/diy/postgres)."""
        query = "select key from pulumi_state where key like '%.pulumi/locks/%.json'"
        command = [self._programs / "psql", "--tuples-only", "--no-align", f"--command={query}", self.url]
        variables = {**self._tools.environment, **self.variables}
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout.split()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _command(self, program: str, *arguments: str) -> list[str]:
        mapped = ["unshare", "--user", "--map-user=65534", "--map-group=65534"] if os.geteuid() == 0 else []
        return [*mapped, str(self._programs / program), *arguments]

    def _serve(self) -> subprocess.Popen[bytes]:
        options = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": ""}
        settings = [word for key, value in options.items() for word in ("-c", f"{key}={value}")]
        command = self._command("postgres", "-D", str(self._data), *settings)
        with self._log().open("ab") as log:
            return subprocess.Popen(command, env=self._tools.environment, stdout=log, stderr=log)
