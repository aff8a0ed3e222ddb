"""Slurm cluster of one tenant cluster, as kinds of Slinky's operator, which runs the daemons as pods.

The objects are in a namespace of their own: the webhook that copies the place of a node to a new pod excludes the
namespace of its operator (SLURMOP:helm/slurm-operator/templates/webhook/webhook.yaml). The operator needs the Secrets
of keys and passwords before it creates pods; it creates none of them (SLURMOP:helm/slurm/templates/secrets).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render.add_ons.load_balancers import VPC_POOL
from components.render.add_ons.pod_priorities import SERVICE
from components.render.control_planes.control_plane import HOST_NAME
from components.render.manifest import Manifest
from components.render.objects import given, manifest, namespace
from components.render.platform_pods import address_request
from components.render.pod_placement import services
from components.render.program_pods import TOOL
from components.render.storage.buckets import BucketsInput, OfferedBucket
from components.render.vms.virtual_machine import PUBLIC_POOL
from components.render.workloads import slurm_database, slurm_scripts
from components.render.workloads.slurm_backup import dumps_of
from components.render.workloads.slurm_nodes import LOGFILE, mounts, node_set
from components.render.workloads.slurm_pool import NAMESPACE, SlurmPool, partition_lines, topology_file
from components.render.workloads.slurm_topology import annotating
from components.specs.base import Address
from components.specs.natural import numbers
from components.specs.struct import Struct
from components.specs.workloads.slurm import SlurmLoginSpec, SlurmSpec

NAME = "slurm"
"""Name of the cluster's objects, from which the operator derives other names, such as ``slurm-controller``."""
LOGIN = "login"
"""Name of the login nodes and of their Service."""
TOPOLOGY = "slurm-topology"
_IMAGES = ("slurmctld", "slurmd", "slurmdbd", "slurmrestd", "slurm-login", LOGFILE, TOOL)
GROUP = "slinky.slurm.net/v1beta1"
_KEYS = {"slurmKeyRef": "slurm.key", "jwtKeyRef": "jwt.key"}
_METRICS = tuple(f"/metrics/{part}" for part in ("jobs", "nodes", "partitions", "scheduler"))
_FIRST_WITHOUT_NAMESPACES = (1, 1, 1)
"""First release of the operator whose references have no namespace. Its API server rejects the field, and release 1.1.0
finds no object without it (SLURMOP:api/v1beta1/base_types.go of v1.1.0, SLURMOP:internal/utils/refresolver)."""
SSH_PORT = 22
"""Port of the login nodes."""


def images_of(spec: SlurmSpec) -> tuple[str, ...]:
    """Return the images that the version vector must contain for the Slurm cluster."""
    server = spec.database_server
    return (*_IMAGES, *(slurm_database.images_of(server) if server else ()))


class SlurmInput(Struct):
    """Slurm cluster on pools of one tenant cluster."""

    name: str
    cluster: str
    spec: SlurmSpec
    pools: tuple[SlurmPool, ...]
    """Pools of all partitions, in the order of the data."""
    images: Mapping[str, str]
    """Container images by name, with digests."""
    operator: str
    """Release of the operator's chart that the cluster installs."""
    system_pool: bool
    """Whether the cluster has a pool with role system."""
    buckets: tuple[OfferedBucket, ...] = ()
    """Buckets of the tenant with keys in the namespace of the objects."""
    public_address: Address | None = None
    """Public address of the login nodes; None for an address of the VPC."""
    host_name: str | None = None
    """DNS name of the login nodes; None without DNS records."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the namespace and configuration, then the daemons and login nodes, and a node set for each pool."""
        return (
            namespace(NAMESPACE, cluster=self.cluster),
            *BucketsInput(name=self.name, cluster=self.cluster, offered=self.buckets).render(),
            *annotating(self.cluster, NAMESPACE, self.pools, self.images, system_pool=self.system_pool),
            *self._volumes(),
            manifest("v1", "ConfigMap", TOPOLOGY, **self._place(), data={"topology.yaml": topology_file(self.pools)}),
            *self._scripts(),
            *self._accounting(),
            self._controller(),
            self._rest_api(),
            *(node_set(pool, self.spec, self.images, GROUP, self._reference(), self._place()) for pool in self.pools),
            *(self._login(self.spec.login) if self.spec.login else ()),
        )

    def _place(self) -> dict[str, Any]:
        return {"namespace": NAMESPACE, "cluster": self.cluster}

    def _volumes(self) -> Iterator[Manifest]:
        """Yield the claims of shared volumes, which are not deleted with the Slurm cluster."""
        for volume in self.spec.volumes:
            spec = {
                "accessModes": ["ReadWriteMany"],
                "storageClassName": volume.storage_class,
                "resources": {"requests": {"storage": volume.size}},
            }
            yield manifest("v1", "PersistentVolumeClaim", volume.name, **self._place(), protect=True, spec=spec)

    def _keys(self) -> dict[str, Any]:
        return {field: {"name": self.spec.keys_secret, "key": key} for field, key in _KEYS.items()}

    def _service_pod(self, **further: Any) -> dict[str, Any]:
        """Return the template of a daemon's pod, which runs like other services of the platform."""
        placed = services(system_pool=self.system_pool, labels={"kubernetes.io/os": "linux"})
        return {"spec": {**placed, "priorityClassName": SERVICE, **further}}

    def _container(self, image: str) -> dict[str, Any]:
        return {"image": self.images[image], "imagePullPolicy": "IfNotPresent"}

    def _scripts(self) -> Iterator[Manifest]:
        """Yield the scripts that slurmctld sends to the nodes."""
        if files := slurm_scripts.files(self.spec):
            yield manifest("v1", "ConfigMap", slurm_scripts.NAME, **self._place(), data=files)

    def _accounting(self) -> Iterator[Manifest]:
        spec = self.spec.accounting
        if spec is None:
            return
        if spec.server:
            backup = spec.server.backup
            yield from slurm_database.database(
                spec,
                spec.server,
                self.images,
                self._place(),
                dumps=dumps_of(backup, self.buckets) if backup else None,
                system_pool=self.system_pool,
            )
        host, port = slurm_database.endpoint(spec)
        storage = {
            "host": host,
            "port": port,
            "database": spec.database,
            "username": spec.user,
            "passwordKeyRef": {"name": spec.password_secret, "key": "password"},
        }
        yield manifest(
            GROUP,
            "Accounting",
            NAME,
            **self._place(),
            spec={
                **self._keys(),
                "slurmdbd": self._container("slurmdbd"),
                "storageConfig": storage,
                "template": self._service_pod(),
            },
        )

    def _controller(self) -> Manifest:
        pools = {pool.spec.name: pool for pool in self.pools}
        disk = self.spec.controller
        return manifest(
            GROUP,
            "Controller",
            NAME,
            **self._place(),
            # Deletion removes jobs, reservations and the claim's StatefulSet.
            protect=True,
            spec={
                "clusterName": self.cluster,
                **self._keys(),
                **given(accountingRef=self._reference() if self.spec.accounting else None),
                "slurmctld": self._container("slurmctld"),
                "reconfigure": self._container("slurmctld"),
                "logfile": self._container(LOGFILE),
                "configFileRefs": [
                    self._reference(name) for name in (TOPOLOGY, *(item.name for item in self._scripts()))
                ],
                "extraConf": slurm_scripts.lines(self.spec) + partition_lines(self.spec.partitions, pools),
                "persistence": {
                    "enabled": True,
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": disk.storage_class,
                    "resources": {"requests": {"storage": disk.size}},
                },
                "metrics": {
                    "enabled": True,
                    "serviceMonitor": {"enabled": True, "endpoints": [{"path": path} for path in _METRICS]},
                },
                "template": self._service_pod(),
            },
        )

    def _rest_api(self) -> Manifest:
        return manifest(
            GROUP,
            "RestApi",
            NAME,
            **self._place(),
            spec={
                "controllerRef": self._reference(),
                "replicas": self.spec.rest_api_replicas,
                "slurmrestd": self._container("slurmrestd"),
                "template": self._service_pod(),
            },
        )

    def _login(self, login: SlurmLoginSpec) -> Iterator[Manifest]:
        volumes, paths = mounts(self.spec.volumes)
        public = self.public_address
        # The operator never removes an annotation from the Service (SLURMOP:internal/utils/objectutils/patch.go), so
        # both keys have a value in each case. MetalLB ignores an empty list of addresses (MLB:controller/service.go).
        request = address_request(VPC_POOL, "") if public is None else address_request(PUBLIC_POOL, public)
        # A name that remains has no effect: clusters lose their names together with ExternalDNS.
        notes = {**request, **given(**{HOST_NAME: self.host_name})}
        # Local keeps the address of the client, by which kube-proxy drops connections from other networks
        # (K8S:concepts/services-networking/service; kubernetes/kubernetes:pkg/proxy/iptables/proxier.go).
        service = {
            "type": "LoadBalancer",
            "externalTrafficPolicy": "Local",
            "allocateLoadBalancerNodePorts": False,
            **given(loadBalancerSourceRanges=list(map(str, login.sources)) or None),
        }
        yield manifest(
            GROUP,
            "LoginSet",
            LOGIN,
            **self._place(),
            spec={
                "controllerRef": self._reference(),
                "replicas": login.replicas,
                "login": {**self._container("slurm-login"), **given(volumeMounts=paths)},
                "initconf": self._container(LOGFILE),
                "sssdConfRef": {"name": login.users_secret, "key": "sssd.conf"},
                "service": {"metadata": {"annotations": notes}, "spec": service, "port": SSH_PORT},
                "template": self._service_pod(**given(volumes=volumes)),
            },
        )

    def _reference(self, name: str = NAME) -> dict[str, str]:
        """Return a reference to an object in the same namespace."""
        namespaced = numbers(self.operator) < _FIRST_WITHOUT_NAMESPACES
        return {"name": name, **({"namespace": NAMESPACE} if namespaced else {})}
