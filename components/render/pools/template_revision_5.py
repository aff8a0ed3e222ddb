"""Node templates, revision 5: revision 4 with the node's address in its VPC. Frozen.

Metal3 gets the address of the host from the pool's address pool (``node_addresses``) and writes it to the config drive,
with gateway and name servers. Cloud-init configures it on the port of the DPU before any other service starts. No other
port is configured, so a node has no address in the boot network of its host. The kubelet gets the same address as an
argument, instead of choosing one.

If an intent has no network, the templates are byte-identical to those of revision 4.
"""

from __future__ import annotations

from typing import Any

from components.render.manifest import Json
from components.render.network.vpc import ANYWHERE
from components.render.objects import LABEL_LIMIT, digest, fit
from components.render.pools import template_revision_4
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.network.node_addresses import NodeNetwork

NODE_IP = "node_ip"
"""Key of the node's address in its metadata."""
_MAX_MTU = 9000
"""Maximum MTU in the schema of the data template, in bytes."""
_PORT = "vpc"


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of the templates of a rollout group."""
    before = template_revision_4.build(intent)
    if intent.network is None:
        return before
    data = _data(intent, intent.network)
    return NodeTemplates(
        machine=_claiming(before.machine, data_name(intent.cluster, intent.pool, data)),
        bootstrap=_addressed(before.bootstrap, intent.network),
        data=data,
    )


def data_name(cluster: str, pool: str, data: Json) -> str:
    """Return the name of the data template with the spec ``data``, which groups of a pool share."""
    return f"{fit(f'{cluster}-{pool}', LABEL_LIMIT)}-{digest(data, 10)}"


def pool_name(cluster: str, pool: str) -> str:
    """Return the name of the address pool of a pool's hosts."""
    return fit(f"{cluster}-{pool}", LABEL_LIMIT)


def _data(intent: TemplateIntent, network: NodeNetwork) -> Json:
    addresses = pool_name(intent.cluster, intent.pool)
    everywhere = {
        "network": str(ANYWHERE.network_address),
        "prefix": ANYWHERE.prefixlen,
        "gateway": {"fromIPPool": addresses},
    }
    return {
        "clusterName": intent.cluster,
        "metaData": {"ipAddressesFromPool": [{"key": NODE_IP, "name": addresses}]},
        "networkData": {
            "links": {
                "ethernets": [
                    {
                        "id": _PORT,
                        "type": "phy",
                        "mtu": min(network.mtu_bytes, _MAX_MTU),
                        "macAddress": {"fromHostInterface": network.interface},
                    }
                ]
            },
            "networks": {
                "ipv4": [{"id": _PORT, "link": _PORT, "ipAddressFromIPPool": addresses, "routes": [everywhere]}],
            },
            "services": {"dns": [str(server) for server in network.dns]},
        },
    }


def _claiming(machine: Json, data: str) -> Json:
    template = machine["template"]
    return {**machine, "template": {**template, "spec": {**template["spec"], "dataTemplate": {"name": data}}}}


def _addressed(bootstrap: Json, network: NodeNetwork) -> Json:
    spec = bootstrap["template"]["spec"]
    join = spec["joinConfiguration"]
    registration = join["nodeRegistration"]
    node_ip = {"name": "node-ip", "value": f"{{{{ ds.meta_data.{NODE_IP} }}}}"}
    arguments = [*registration["kubeletExtraArgs"], node_ip]
    addressed: dict[str, Any] = {**registration, "kubeletExtraArgs": arguments}
    clocks = {"ntp": {"enabled": True, "servers": [str(clock) for clock in network.ntp]}} if network.ntp else {}
    return {"template": {"spec": {**spec, **clocks, "joinConfiguration": {**join, "nodeRegistration": addressed}}}}
