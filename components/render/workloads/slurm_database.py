"""Database server of a Slurm cluster's accounting: MariaDB in one pod, with a volume that outlives nodes.

The settings are those of SLURM:doc/html/accounting.shtml (Slurm Accounting Configuration Before Build) and of the
example of Slinky's operator (SLURMOP:docs/installation.md). slurmdbd compares some of them with its recommendation when
it starts (SLURM:src/plugins/accounting_storage/mysql/as_mysql.c).

The pod runs the programs of MariaDB without the entrypoint of an image: a container first creates the data directory,
then writes the statements that the server executes at each start (MARIADB:server-system-variables, ``init_file``). They
create the database and the user, and set the password of the Secret. Administrators log in by the socket in the pod, as
the user of the process, without a password (``unix_socket``).

One pod with one volume has no PodDisruptionBudget, which would block every drain of its node. slurmctld keeps records
while slurmdbd or its database are away.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render.add_ons.pod_priorities import SERVICE
from components.render.manifest import Manifest
from components.render.objects import digest, manifest
from components.render.platform_pods import HARDENED, unprivileged
from components.render.pod_placement import services
from components.render.workloads.slurm_backup import PODS as BACKUP_PODS
from components.render.workloads.slurm_backup import TOOL as BACKUP_TOOL
from components.render.workloads.slurm_backup import Dumps, backup_job
from components.specs.base import bytes_of
from components.specs.workloads.slurm_accounting import SlurmAccountingSpec, SlurmDatabaseSpec

NAME = "slurm-database"
"""Name of the StatefulSet and of its Service, the host of the database."""
CLAIM = f"{NAME}-volume"
"""Name of the claim, which is longer than the name of any shared volume."""
IMAGE = "mariadb"
"""Image of the server in the tools of the version vector, with MariaDB's own programs."""
PORT = 3306
CONFIG, SCRIPT = "my.cnf", "prepare.sh"
FILES, DATA, RUN = "/etc/slurm-database", "/var/lib/mysql", "/run/mysqld"
"""Folders of the configuration, of the volume, and of the socket and the statements for the start."""
_PODS = {"app.kubernetes.io/name": IMAGE, "app.kubernetes.io/instance": NAME}
_CLIENTS = {"app.kubernetes.io/name": "slurmdbd", "app.kubernetes.io/instance": "slurm"}
"""Labels of the pod of slurmdbd (SLURMOP:internal/builder/labels/labels.go)."""
_NOT_AWAITED = {"pulumi.com/skipAwait": "true"}
"""The pod waits for a Secret that the tenant creates, and its volume and Service wait for the pod."""
_USER = 999
"""User ``mysql`` of the image (MariaDB/mariadb-docker:Dockerfile.template)."""
_STOP_SECONDS = 300
"""Time for the last writes. A server that is killed repairs its tables when it starts again."""
_START_SECONDS, _PROBE_SECONDS = 3600, 10
_HALF = 2
_LOG_SHARE = 4
"""Divisor of the cache for the size of the redo log, as in the operator's example."""
_PREPARE = rf"""#!/bin/sh
# Creates the data directory if the volume has none, and writes the statements that the server executes when it starts.
set -eu
password=$(printf '%s' "$PASSWORD")
case "$password" in
  '' | *[!A-Za-z0-9._~+/=-]*)
    echo "the password must consist of letters, digits and . _ ~ + / = -: slurmdbd.conf has no quotes" >&2
    exit 1
    ;;
esac
if [ ! -d {DATA}/data ]; then
  # The folder gets its name when it is complete, so an interrupted run is repeated.
  rm -rf {DATA}/new
  # Without its name, the user of the pod could not log in by the socket.
  mariadb-install-db --no-defaults --datadir={DATA}/new --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)"
  mv {DATA}/new {DATA}/data
fi
umask 077
# An underscore in the name of a grant matches any character.
granted=$(printf '%s' "$DATABASE" | sed 's/_/\\_/g')
cat >{RUN}/init.sql <<END
CREATE DATABASE IF NOT EXISTS \`$DATABASE\`;
CREATE USER IF NOT EXISTS '$USERNAME'@'%';
ALTER USER '$USERNAME'@'%' IDENTIFIED BY '$password';
GRANT ALL ON \`$granted\`.* TO '$USERNAME'@'%';
END
"""
_SETTINGS = f"""\
[mariadbd]
datadir={DATA}/data
socket={RUN}/mysqld.sock
pid_file={RUN}/mysqld.pid
init_file={RUN}/init.sql
tmpdir=/tmp
bind_address=*
port={PORT}
skip_name_resolve=ON
local_infile=OFF
default_storage_engine=InnoDB
innodb_default_row_format=DYNAMIC
innodb_lock_wait_timeout=900
max_allowed_packet=256M
loose_innodb_snapshot_isolation=OFF
"""
"""Settings that do not depend on the memory. Releases from 11.6 isolate snapshots by default, and end transactions that
read a row which another one has changed; slurmdbd does not repeat them."""
_CLIENT = f"""
[client]
socket={RUN}/mysqld.sock
"""


def images_of(server: SlurmDatabaseSpec) -> tuple[str, ...]:
    """Return the images of the server and of its backup."""
    return (IMAGE, BACKUP_TOOL) if server.backup else (IMAGE,)


def endpoint(accounting: SlurmAccountingSpec) -> tuple[str, int]:
    """Return host and port of the database, an existing one or `NAME` in the same namespace."""
    if accounting.endpoint is None:
        return NAME, PORT
    host, _, port = accounting.endpoint.rpartition(":")
    return host, int(port)


def database(
    accounting: SlurmAccountingSpec,
    server: SlurmDatabaseSpec,
    images: Mapping[str, str],
    place: Mapping[str, Any],
    *,
    dumps: Dumps | None,
    system_pool: bool,
) -> Iterator[Manifest]:
    """Yield the server of ``accounting``: its volume, configuration, network policy, Service and pod.

    Args:
        accounting: database, user and Secret of the password.
        server: volume and memory.
        images: container images by name.
        place: namespace and cluster.
        dumps: bucket of the backup; None without one.
        system_pool: whether the cluster has a pool with role system.
    """
    files = {CONFIG: settings(server), SCRIPT: _PREPARE}
    # Pods read the files when they start, so other files are another ConfigMap.
    config = f"{NAME}-{digest(files, 8)}"
    yield manifest(
        "v1",
        "PersistentVolumeClaim",
        CLAIM,
        **place,
        annotations=_NOT_AWAITED,
        # Records outlive the server, so that they can be copied to another database.
        retain=True,
        spec={
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": server.storage_class,
            "resources": {"requests": {"storage": server.size}},
        },
    )
    yield manifest("v1", "ConfigMap", config, **place, data=files)
    yield _policy(place, *((BACKUP_PODS,) if server.backup else ()))
    if server.backup and dumps:
        tools = (images[IMAGE], images[BACKUP_TOOL])
        yield backup_job(accounting, server.backup, dumps, tools, place, host=NAME, user=_USER, system_pool=system_pool)
    yield manifest(
        "v1",
        "Service",
        NAME,
        **place,
        annotations=_NOT_AWAITED,
        spec={"selector": dict(_PODS), "ports": [{"name": IMAGE, "port": PORT, "targetPort": PORT}]},
    )
    pod = {
        **services(system_pool=system_pool, labels={"kubernetes.io/os": "linux"}),
        "priorityClassName": SERVICE,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": _STOP_SECONDS,
        "securityContext": {**unprivileged(_USER), "fsGroup": _USER, "fsGroupChangePolicy": "OnRootMismatch"},
        "initContainers": [_container("prepare", images, server, **_preparing(accounting))],
        "containers": [_container(IMAGE, images, server, **_serving())],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}},
            {"name": "files", "configMap": {"name": config}},
            {"name": "run", "emptyDir": {"medium": "Memory"}},
            {"name": "temporary", "emptyDir": {}},
        ],
    }
    spec = {
        # A StatefulSet, unlike a Deployment, never has two pods, which would both write to the volume.
        "replicas": 1,
        "serviceName": NAME,
        "selector": {"matchLabels": dict(_PODS)},
        "template": {"metadata": {"labels": dict(_PODS)}, "spec": pod},
    }
    yield manifest("apps/v1", "StatefulSet", NAME, **place, annotations=_NOT_AWAITED, spec=spec)


def settings(server: SlurmDatabaseSpec) -> str:
    """Return ``my.cnf`` of ``server``: half of its memory caches tables."""
    cache = bytes_of(server.memory) // _HALF
    sizes = f"innodb_buffer_pool_size={cache >> 20}M\ninnodb_log_file_size={cache // _LOG_SHARE >> 20}M\n"
    return f"{_SETTINGS}{sizes}{_CLIENT}"


def _policy(place: Mapping[str, Any], *clients: Mapping[str, str]) -> Manifest:
    """Return the policy by which only slurmdbd and pods of ``clients`` connect to the server, and it to nothing."""
    peers = [{"podSelector": {"matchLabels": dict(labels)}} for labels in (_CLIENTS, *clients)]
    rule = {"from": peers, "ports": [{"protocol": "TCP", "port": PORT}]}
    return manifest(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        NAME,
        **place,
        spec={
            "podSelector": {"matchLabels": dict(_PODS)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [rule],
        },
    )


def _preparing(accounting: SlurmAccountingSpec) -> dict[str, Any]:
    password = {"name": accounting.password_secret, "key": "password"}
    return {
        "command": ["sh", f"{FILES}/{SCRIPT}"],
        "env": [
            {"name": "DATABASE", "value": accounting.database},
            {"name": "USERNAME", "value": accounting.user},
            {"name": "PASSWORD", "valueFrom": {"secretKeyRef": password}},
        ],
    }


def _serving() -> dict[str, Any]:
    probe = {
        "exec": {"command": ["mariadb-admin", f"--defaults-file={FILES}/{CONFIG}", "ping"]},
        "periodSeconds": _PROBE_SECONDS,
        "timeoutSeconds": _PROBE_SECONDS,
    }
    return {
        "command": ["mariadbd", f"--defaults-file={FILES}/{CONFIG}"],
        "ports": [{"name": IMAGE, "containerPort": PORT}],
        # The repair of tables after a failure takes minutes. A liveness probe could end a server that is only busy.
        "startupProbe": {**probe, "failureThreshold": _START_SECONDS // _PROBE_SECONDS},
        "readinessProbe": probe,
    }


def _container(name: str, images: Mapping[str, str], server: SlurmDatabaseSpec, **further: Any) -> dict[str, Any]:
    mounts = (("data", DATA), ("files", FILES), ("run", RUN), ("temporary", "/tmp"))  # noqa: S108 - a mount
    return {
        "name": name,
        "image": images[IMAGE],
        "imagePullPolicy": "IfNotPresent",
        **further,
        "resources": {"requests": {"cpu": "1", "memory": server.memory}, "limits": {"memory": server.memory}},
        "volumeMounts": [{"name": volume, "mountPath": path} for volume, path in mounts],
        "securityContext": dict(HARDENED),
    }
