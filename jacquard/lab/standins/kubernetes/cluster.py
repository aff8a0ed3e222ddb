"""Lazy connection to one cluster: the kubeconfig may be created during the run."""

import tempfile
import threading
from pathlib import Path

from jacquard.providers.kube import ApiServer
from jacquard.providers.kube import kubeconfig as files
from jacquard.providers.kube.errors import KubeconfigError

_CONNECTIONS = 32


class NoKubeconfig(KubeconfigError):  # noqa: N818 - named after the state it reports
    """The kubeconfig is a path without a file."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: the kubeconfig does not exist (yet); create the cluster first (`jacquard up ENVIRONMENT` writes "
            "the file), or make the provider depend on the resource that writes it"
        )


class Cluster:
    """One context of a kubeconfig, from a path or from its content."""

    def __init__(
        self, kubeconfig: str, context: str | None, *, namespace: str | None = None, timeout_seconds: float = 32.0
    ) -> None:
        """Store the settings; nothing is read yet.

        Args:
            kubeconfig: path of the file, or its content.
            context: name of a context in the file; None or empty for the current context.
            namespace: default namespace of objects; None or empty for the namespace of the context.
            timeout_seconds: timeout of one request.
        """
        self._text = kubeconfig if _is_text(kubeconfig) else None
        self._path = Path(kubeconfig).expanduser()
        self._context = context or None
        self._namespace = namespace or None
        self._timeout_seconds = timeout_seconds
        self._lock = threading.Lock()
        self._api: ApiServer | None = None
        self._version: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return "Cluster(...)"

    def api(self) -> ApiServer:
        """Return the client; connect again if the file has changed.

        Raises:
            NoKubeconfig: the file does not exist (yet).
            KubeconfigError: the kubeconfig is invalid.
        """
        with self._lock:
            version = None if self._text is not None else self._file_version()
            if self._api is None or version != self._version:
                self._api, self._version = self._connect(), version
            return self._api

    def server(self) -> tuple[str, str | None] | None:
        """Return the server address and TLS server name that identify the cluster; None without a valid kubeconfig."""
        try:
            connection = self._load()
        except KubeconfigError:
            return None
        return connection.server, connection.tls_server_name

    def _file_version(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            raise NoKubeconfig(self._path) from None
        except OSError as error:
            message = f"{self._path}: cannot be read ({error.strerror})"
            raise KubeconfigError(message) from None
        return status.st_mtime_ns, status.st_ino

    def _connect(self) -> ApiServer:
        api = ApiServer(
            self._load(),
            user_agent="jacquard-pulumi-kubernetes",
            connections=_CONNECTIONS,
            timeout_seconds=self._timeout_seconds,
        )
        api.namespace = self._namespace or api.namespace
        return api

    def _load(self) -> files.Connection:
        if self._text is None:
            return files.load(self._path, self._context)
        with tempfile.NamedTemporaryFile(mode="w", prefix="kubeconfig-", encoding="utf-8") as file:
            file.write(self._text)
            file.flush()
            try:
                return files.load(Path(file.name), self._context)
            except KubeconfigError as error:
                raise KubeconfigError(str(error).replace(file.name, "kubeconfig")) from None


def _is_text(kubeconfig: str) -> bool:
    return "\n" in kubeconfig or kubeconfig.lstrip().startswith("{")
