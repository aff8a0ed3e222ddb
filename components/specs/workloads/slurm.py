"""Slurm cluster inside a tenant cluster: its daemons, login nodes, partitions and shared volumes."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import (
    CheckedSpec,
    Cidr,
    ConstraintViolation,
    DnsLabel,
    Quantity,
    ShortName,
    Spec,
)
from components.specs.workloads.slurm_accounting import SlurmAccountingSpec, SlurmDatabaseSpec

RESERVED = ("all", "default")
"""Names that Slurm interprets in any case: ``Nodes=ALL``, and the line with the defaults of later lines."""
VOLUMES = (
    "run",
    "sackd-dir",
    "shared-memory",
    "slurm-config",
    "slurm-etc",
    "slurm-logfile",
    "ssh-config",
    "ssh-host-keys",
    "sssd-conf",
)
"""Volumes of login and compute pods, by Slinky's operator (SLURMOP:internal/builder) or the library.

A claim of the same name would be merged with it, and the API server rejects a volume of two types.
"""
MOUNT_PATH = r"^/[a-z0-9][-a-z0-9_]*(/[a-z0-9][-a-z0-9_]*)*$"
SYSTEM_PATHS = (
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
)
"""Directories of the images, and of the sockets, logs, keys and configuration that Slinky's operator mounts
(SLURMOP:internal/builder/loginbuilder/login_app.go, workerbuilder/worker_app.go)."""
MountPath = Annotated[str, StringConstraints(pattern=MOUNT_PATH, max_length=128)]
"""Absolute path of a mount, resolved and not the root."""


class SlurmControllerSpec(Spec):
    """Slurm's controller (slurmctld), one pod whose jobs and reservations are on a volume."""

    storage_class: DnsLabel
    """Storage class of the volume, one of the cluster's ``storage``, whose volumes outlive nodes. It never changes."""
    size: Quantity = "16Gi"
    """Size of the volume. It never changes."""


class SlurmLoginSpec(CheckedSpec):
    """Login nodes: pods of the system pool that users reach by SSH at one address."""

    replicas: int = Field(default=2, ge=1, le=32)
    """Number of pods behind the address."""
    users_secret: DnsLabel
    """Secret in namespace ``slurm-cluster`` of the cluster with the configuration of SSSD, which reads users and groups
    from LDAP, under the key ``sssd.conf``."""
    public_ip: bool = False
    """Whether the address is a public address of the region, allocated in ``allocations.lock.yaml``. By default the
    address is one of the VPC's load balancers."""
    sources: tuple[Cidr, ...] = Field(default=(), max_length=64)
    """Networks whose hosts can open connections to the address, such as ``203.0.113.0/24``; by default all networks
    that reach it. Pods of the cluster use the Service's name instead."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield sources that are listed twice or that another one contains, several in one network as one problem."""
        within: dict[Cidr, list[int]] = {}
        for at, network in enumerate(self.sources):
            first = next((other for other in self.sources if other != network and network.subnet_of(other)), None)
            if network in self.sources[:at]:
                yield ConstraintViolation("is listed twice; remove it", ("sources", at), str(network))
            elif first is not None:
                within.setdefault(first, []).append(at)
        for wide, places in within.items():
            if len(places) == 1:
                text, at = f"is in {wide}, which is listed too; remove one of them", places[0]
            else:
                text = f"contains {len(places)} other sources, which have no effect; remove them, or remove it"
                at = self.sources.index(wide)
            yield ConstraintViolation(text, ("sources", at), str(self.sources[at]))


class SlurmVolumeSpec(Spec):
    """Volume that login nodes and compute nodes mount at the same path, such as home directories."""

    name: ShortName
    """Name of the volume and of its claim."""
    path: MountPath
    """Path of the mount, such as ``/home``."""
    storage_class: DnsLabel
    """Storage class of the volume, one of the cluster's ``storage``, whose volumes many nodes mount and which outlive
    nodes. It never changes."""
    size: Quantity
    """Size of the volume, such as ``100Ti``."""


class SlurmPartitionSpec(Spec):
    """Partition: a queue of Slurm for the nodes of some pools. A pool can be in several partitions."""

    name: ShortName
    """Name of the partition, unique in the cluster."""
    pools: tuple[ShortName, ...] = Field(min_length=1, max_length=32)
    """Pools of the cluster whose nodes run the partition's jobs. Each has the taint ``slinky.slurm.net/slurm``."""
    default: bool = False
    """Whether jobs without a partition run here; at most one partition."""
    max_hours: int | None = Field(default=None, ge=1, le=8784)
    """Maximum run time of a job in hours; unlimited by default."""
    priority: int = Field(default=1, ge=1, le=65533)
    """Priority of the partition: jobs of a higher one are scheduled first (``PriorityTier``)."""


class SlurmScriptSpec(CheckedSpec):
    """Script that Slurm runs on each node of a job, as root in the pod of the node and without a search path."""

    name: ShortName
    """Name of the script, unique in its list."""
    script: Annotated[str, StringConstraints(max_length=16384)]
    """Text of the script. Its first line names an interpreter of the image of slurmd, such as ``#!/bin/sh``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a script that slurmd cannot execute, and a script without a command."""
        first, *others = self.script.splitlines() or [""]
        if not first.startswith("#!/"):
            text = "has no interpreter in its first line, so slurmd cannot execute it; begin with #!/bin/sh"
            yield ConstraintViolation(text, ("script",))
        elif not any(line.strip() and not line.startswith("#") for line in others):
            text = "has no command after its first line; write script: | and each command on a line of its own"
            yield ConstraintViolation(text, ("script",))


class SlurmSpec(CheckedSpec):
    """Slurm cluster on pools of a tenant cluster, created by the operator of the add-on ``slurm``."""

    partitions: tuple[SlurmPartitionSpec, ...] = Field(min_length=1, max_length=64)
    """Partitions, each with the pools whose nodes run its jobs."""
    controller: SlurmControllerSpec
    """Slurm's controller and its volume."""
    accounting: SlurmAccountingSpec | None = None
    """Accounting of jobs, and limits of accounts; none by default."""
    login: SlurmLoginSpec | None = None
    """Login nodes; by default users submit jobs through the REST API only."""
    rest_api_replicas: int = Field(default=2, ge=1, le=8)
    """Number of pods of the REST API (slurmrestd), through which the operator also drains nodes."""
    volumes: tuple[SlurmVolumeSpec, ...] = Field(default=(), max_length=16)
    """Volumes that login nodes and compute nodes share."""
    gpu_check: bool = False
    """Whether each node counts its GPUs before and after a job (Slurm's prolog and epilog). A node on which a GPU does
    not answer is drained. A batch job that has not started is queued again for other nodes."""
    prolog: tuple[SlurmScriptSpec, ...] = Field(default=(), max_length=16)
    """Scripts before a job, in this order, after ``gpu_check``. If one fails, the next ones do not run, Slurm drains
    the node, and a batch job is queued again for other nodes."""
    epilog: tuple[SlurmScriptSpec, ...] = Field(default=(), max_length=16)
    """Scripts after a job, in this order, before ``gpu_check``. They also run on a node whose ``prolog`` failed. If one
    fails, the next ones do not run, and Slurm drains the node."""
    keys_secret: DnsLabel = "slurm-keys"  # noqa: S105 - a name
    """Secret in namespace ``slurm-cluster`` of the cluster with the keys ``slurm.key`` and ``jwt.key``, by which the
    daemons trust each other and tokens. It never changes."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield names that Slurm reserves, several defaults, volumes over system directories, and duplicates."""
        for at, partition in enumerate(self.partitions):
            if partition.name in RESERVED:
                text = "is a keyword of Slurm's configuration; write another name"
                yield ConstraintViolation(text, ("partitions", at, "name"), partition.name)
            for index, pool in enumerate(partition.pools):
                if pool in partition.pools[:index]:
                    text = "is listed twice; remove it"
                    yield ConstraintViolation(text, ("partitions", at, "pools", index), pool)
        first, *others = [at for at, partition in enumerate(self.partitions) if partition.default] or [0]
        for at in others:
            text = f"{self.partitions[first].name} is already the default, and there can be only one; remove it"
            yield ConstraintViolation(text, ("partitions", at, "default"))
        for at, volume in enumerate(self.volumes):
            top = "/" + volume.path.split("/")[1]
            if top in SYSTEM_PATHS:
                text = f"hides files of the daemons in {top}; write a path outside it, such as /home"
                yield ConstraintViolation(text, ("volumes", at, "path"), volume.path)
            if volume.name in VOLUMES:
                text = "is the name of another volume of the pods; write another name"
                yield ConstraintViolation(text, ("volumes", at, "name"), volume.name)
        yield from self._repeated()
        yield from self._shared_secrets()

    @property
    def database_server(self) -> SlurmDatabaseSpec | None:
        """Return the database server that the library creates for the accounting; None without one."""
        return self.accounting.server if self.accounting else None

    def _shared_secrets(self) -> Iterator[ConstraintViolation]:
        """Yield Secrets of two purposes, which are created by separate commands and read by different users."""
        names: dict[str, str] = {self.keys_secret: "keys_secret"}
        server = self.database_server
        others = (
            (("accounting", "password_secret"), self.accounting and self.accounting.password_secret),
            (("accounting", "server", "backup", "secret"), server and server.backup and server.backup.secret),
            (("login", "users_secret"), self.login and self.login.users_secret),
        )
        for path, name in others:
            if name and (first := names.setdefault(name, ".".join(path))) != ".".join(path):
                text = f"is also {first}, and each is a Secret of its own; write another name"
                yield ConstraintViolation(text, path, name)

    def _repeated(self) -> Iterator[ConstraintViolation]:
        """Yield partitions, volumes and scripts whose name or path another entry has."""
        for key, listing, field in (
            ("partitions", self.partitions, "name"),
            ("volumes", self.volumes, "name"),
            ("volumes", self.volumes, "path"),
            ("prolog", self.prolog, "name"),
            ("epilog", self.epilog, "name"),
        ):
            values = [getattr(entry, field) for entry in listing]
            for at, value in enumerate(values):
                if value in values[:at]:
                    text = f"{key}[{values.index(value)}] has the same {field}; write another one"
                    yield ConstraintViolation(text, (key, at, field), value)

    @property
    def pools(self) -> tuple[ShortName, ...]:
        """Return the pools of all partitions, each once, in the order of the data."""
        return tuple(dict.fromkeys(pool for partition in self.partitions for pool in partition.pools))
