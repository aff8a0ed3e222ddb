"""Nodes by IronCore metal: servers are claimed by label, independent of namespaces, and always boot from the network.

No state of a node survives a reboot. Remediation by reboot is therefore not possible: an unhealthy Machine is replaced
immediately and its server is released. Ignition contains the join token, which Cluster API renews only until the first
join. A node that reboots after its first join is replaced by the health check.
"""

from typing import Any

from components.render.control_planes.control_plane import API_PORT, ControlPlane
from components.render.manifest import Manifest
from components.render.memory_limits import of_management
from components.render.objects import manifest
from components.render.platform_pods import service_at
from components.render.providers import Provider
from components.render.region.operators import CERT_MANAGER, Operator
from components.specs.hosts.bare_metal import BareMetalSpec
from components.specs.hosts.netboot import NetbootSpec

API = "infrastructure.cluster.x-k8s.io/v1alpha1"
MACHINE_TEMPLATE = (API, "IroncoreMetalMachineTemplate")
NAMESPACE = "ironcore-metal-system"
PROVIDERS = (
    Provider(
        role="infrastructure",
        name="ironcore-metal",
        namespace=NAMESPACE,
        release="ironcore_metal",
        # The URL has the format of clusterctl, and the version replaces "latest".
        releases="https://github.com/ironcore-dev/cluster-api-provider-ironcore-metal/releases/latest/"
        "infrastructure-components.yaml",
        mislabelled="v0.2.0",
        resources=of_management(),
    ),
)
CHART = "ironcore-metal"
"""Manifests of both operators, metal-operator and boot-operator, as built from ``config/default`` of each."""
_BOOT_PORT, _IMAGES_PORT, _REGISTRY_PORT = PORTS = (8082, 8083, 10000)
"""Ports of boot-operator for boot files and Ignition, of its image proxy, and of metal-operator's registry."""
_METAL, _BOOT = "metal-operator", "boot-operator"
_AUTHORITY = "bmc-authority"
_AUTHORITY_FOLDER = "/etc/bmc-authority"
_CONTAINER = "/spec/template/spec/containers/0"
_CONTROLLERS = "serverbootconfighttp,httpbootconfig"
"""Controllers of boot-operator for HTTP boot. Its controllers for iPXE need other images and another service."""
_SERVERS_AT_ONCE = 64
"""Number of servers that metal-operator reconciles in parallel. Upstream's 5 are for small sites: each server takes a
worker every two minutes, and for up to two more minutes while it is powered on or off, or its BMC does not answer
(ICM:internal/controller/server_controller.go, Reconcile and ensureServerPowerState). Workers only wait for BMCs."""


def operators(metal: BareMetalSpec) -> tuple[Operator, ...]:
    """Return metal-operator and boot-operator, with the flags without which they exit or reject all images.

    Flags are from ``cmd/main.go`` of metal-operator v0.7.0 and boot-operator 7ead83e. Go reads certificates of further
    authorities from ``SSL_CERT_DIR``, because metal-operator has no flag for them.
    """
    flags = (
        {_METAL: (), _BOOT: ()} if metal.netboot is None else _netboot(metal.netboot, metal.bmc_certificates.authority)
    )
    # Both keep the Secrets of the management cluster, and metal-operator all servers (ICM:cmd/main.go).
    sized = {"op": "add", "path": f"{_CONTAINER}/resources", "value": of_management()}
    patched = {name: (sized, *operations) for name, operations in flags.items()}
    return (Operator(chart=CHART, namespace=NAMESPACE, depends_on=(CERT_MANAGER,), json_patches=patched),)


def _netboot(netboot: NetbootSpec, authority: str | None) -> dict[str, tuple[dict[str, Any], ...]]:
    """Return the operations that set the flags of both operators, by operator."""
    return {
        _METAL: (
            *_flags(
                f"--manager-namespace={NAMESPACE}",
                f"--probe-image={netboot.probe_image}",
                f"--probe-os-image={netboot.probe_os_image}",
                f"--registry-url=http://{netboot.registry_address}:{_REGISTRY_PORT}",
                "--protocol=https",
                f"--skip-cert-validation={str(authority is None).lower()}",
                # Without the first flag, a server that is already on never boots the probe, not even after the
                # discovery timeout; without the second, a server whose system ignores the power button stays on
                # (ICM:internal/controller/server_controller.go, ensureInitialConditions and ensureServerPowerState).
                "--enforce-first-boot",
                "--enforce-power-off",
                f"--server-max-concurrent-reconciles={_SERVERS_AT_ONCE}",
            ),
            *_trusting(authority),
        ),
        _BOOT: _flags(
            f"--controllers={_CONTROLLERS}",
            f"--image-server-url=http://{netboot.boot_address}:{_IMAGES_PORT}/httpboot",
            f"--allowed-registries={','.join(netboot.registries)}",
        ),
    }


def services(netboot: NetbootSpec, *, metallb: str) -> tuple[Manifest, ...]:
    """Return the addresses of both operators for booting hosts; ``metallb`` is the namespace of address pools."""
    boot = {"boot": _BOOT_PORT, "images": _IMAGES_PORT}
    served = (
        (_BOOT, netboot.boot_address, boot),
        (_METAL, netboot.registry_address, {"registry": _REGISTRY_PORT}),
    )
    return tuple(
        item
        for operator, address, ports in served
        for item in service_at(
            f"{operator}-hosts",
            str(address),
            {"control-plane": "controller-manager", "app.kubernetes.io/name": operator},
            [{"name": name, "port": port, "targetPort": port} for name, port in ports.items()],
            namespace=NAMESPACE,
            metallb=metallb,
        )
    )


def _flags(*flags: str) -> tuple[dict[str, Any], ...]:
    return tuple({"op": "add", "path": f"{_CONTAINER}/args/-", "value": flag} for flag in flags)


def _trusting(authority: str | None) -> tuple[dict[str, Any], ...]:
    """Return the operations that mount the authority of BMC certificates."""
    if authority is None:
        return ()
    mount = {"name": _AUTHORITY, "mountPath": _AUTHORITY_FOLDER, "readOnly": True}
    volume = {"name": _AUTHORITY, "secret": {"secretName": authority}}
    return (
        {"op": "add", "path": f"{_CONTAINER}/env/-", "value": {"name": "SSL_CERT_DIR", "value": _AUTHORITY_FOLDER}},
        {"op": "add", "path": f"{_CONTAINER}/volumeMounts/-", "value": mount},
        {"op": "add", "path": "/spec/template/spec/volumes/-", "value": volume},
    )


def infrastructure(control_plane: ControlPlane) -> Manifest:
    """Return the infrastructure object of a cluster, with the endpoint of its control plane.

    The object has no failure domains: machine templates select servers by a label with the failure domain.
    """
    name = control_plane.spec.name
    return manifest(
        API,
        "IroncoreMetalCluster",
        name,
        namespace=name,
        labels=control_plane.labels,
        spec={"controlPlaneEndpoint": {"host": str(control_plane.vip), "port": API_PORT}},
    )
