"""Error texts for the patterns of the models, each with an example."""

import re

from components.specs import base, keys
from components.specs.add_ons import add_on_values, flux
from components.specs.control_planes import api_server, data_stores
from components.specs.hosts import root_device
from components.specs.network import dpus
from components.specs.pools import gpu_sharing, intents, kubelet, nodes
from components.specs.region import cluster_api, log_sink, logs, metrics_sink, observability, state
from components.specs.storage import buckets, snapshots, storage_class
from components.specs.vms import vm_sizes
from components.specs.workloads import slurm, slurm_accounting

_LABEL = "lower-case letters, digits and '-'"
PATTERN_RULES = {
    add_on_values.VALUE_PATH: "must be the path of a chart value with keys joined by '.', such as speaker.logLevel",
    base.DNS_LABEL: f"must be a name of {_LABEL} that starts with a letter, at most 63 characters",
    base.SHORT_NAME: f"must be a name of {_LABEL} that starts with a letter, at most 15 characters",
    base.CLUSTER_NAME: f"must be a name of {_LABEL} that starts with a letter, at most 30 characters",
    base.LABEL: f"must be a name of {_LABEL}, at most 63 characters",
    base.VERSION_NAME: "must be a name of lower-case letters, digits, '-' and '.', at most 63 characters",
    base.KUBERNETES_VERSION: "must be a Kubernetes version like v1.35.2",
    base.KUBERNETES_MINOR: "must be a minor version of Kubernetes like v1.36",
    base.SHA256: "must be a SHA-256 digest, 64 lower-case hex digits",
    base.QUANTITY: "must be a whole number above 0 with a binary unit like 500Gi",
    base.HTTPS_URL: "must be a URL that starts with https://",
    base.OCI_URL: "must be a chart's URL that starts with oci://, without a tag",
    base.OCI_DIGEST: "must be a digest like sha256: and 64 lower-case hex digits",
    base.BMC_ADDRESS: "must be a BMC address of Metal3 like redfish-virtualmedia+https://10.1.1.1/redfish/v1/Systems/1",
    base.ABSOLUTE_PATH: "must be a path that starts with /",
    base.RELATIVE_PATH: "must be a path that does not start with /, without parts that start with '.'",
    base.LABEL_VALUE: "must be letters, digits, '-', '_' and '.', at most 63 characters",
    base.NODE_LABEL_KEY: "must be a name of letters, digits, '-', '_' and '.', plain or in a domain that"
    " Cluster API copies to nodes (node.cluster.x-k8s.io, node-role.kubernetes.io, node-restriction.kubernetes.io)",
    base.QUALIFIED_NAME: "must be a name of letters, digits, '-', '_' and '.', plain or after a domain and /",
    base.ENDPOINT: "must be a host and a port up to 65535, without a scheme, like server.cloud.example:8443",
    base.DOMAIN: "must be a domain with a dot like cluster.local",
    base.REGISTRY: "must be a host without a scheme, with a port up to 65535 if needed, like registry.cloud.example",
    base.INTERFACE: "must be the name of a network interface, at most 15 characters without spaces, '/' and ':'",
    snapshots.PERIOD: "must be hours or days like 6h or 3d",
    base.CRON_SCHEDULE: 'must be a cron schedule of five fields like "15 3 * * *"',
    state.STATE_BACKEND: "must be a URL that pulumi login accepts, like s3://bucket/region",
    buckets.STORE_URL: "must be https:// and a host with an optional port, without a path, like https://objects.cloud.example",
    buckets.BUCKET_NAME: f"must be a name of {_LABEL} that starts and ends with a letter or digit, 3 to 63 characters",
    storage_class.TENANT_LABEL: f"must be a name of {_LABEL} that starts with a letter, like vast-<tenant>",
    storage_class.TENANT_HOST: "must be a DNS name without a scheme like <tenant>.vast.cloud.example",
    data_stores.SNAPSHOT: "must be the name of a file in the bucket like shared-a-etcd-backup-29384756-x2x4q.db",
    dpus.DPU_CLUSTER_NAME: "must be a name of at most 4 lower-case letters and digits that starts with a letter",
    api_server.FEATURE_GATE: "must be a feature gate like InPlacePodVerticalScaling",
    api_server.CLAIM: "must be text without spaces, '=' and ','",
    observability.OBJECTIVE: "must be a percentage from 95% to 99.99% like 99.95%",
    observability.EMAIL: "must be one e-mail address like oncall@cloud.example",
    logs.PLUGIN_VERSION: "must be a version like 0.30.1, without a leading 'v'",
    logs.PLUGIN_URL: "must be a URL that starts with https://, without a comma",
    log_sink.HEADER: "must be the name of a header like X-Scope-OrgID",
    log_sink.VARIABLE: "must be a key of upper-case letters, digits and '_' like AUTHORIZATION",
    metrics_sink.METRIC_NAMES: "must be the name of a metric, or a prefix of names like DCGM_*",
    cluster_api.RELEASE: "must be a release like v1.13.5",
    flux.GIT_URL: "must be a URL with a host name and without a password, like"
    " https://git.acme.example/platform/train or ssh://git@git.acme.example/train.git",
    gpu_sharing.MIG_PROFILE: "must be a MIG profile like 1g.10gb",
    kubelet.CPU_AMOUNT: 'must be CPUs like "2" or 500m',
    kubelet.SYSCTL: "must be a kernel parameter like net.core.somaxconn",
    vm_sizes.DEVICE: "must be a resource in a domain like nvidia.com/AD102GL_L40S",
    nodes.PINNED_IMAGE: "must be a container image with its digest, registry/name@sha256: and 64 hex digits",
    intents.INTENT_NAME: "must be the name of an intent like gpu-2026.11.1@8d2f0c6b1a4e9375",
    keys.GROUP_KEY: "must be a rollout group like acme-train/train/a01",
    keys.POOL_KEY: "must be a pool like acme-train/train",
    keys.PROMOTED_KEY: "must be a pool like acme-train/train, or dpus",
    keys.WAVE_KEY: "must be a pool or dpus, and the number of a wave, like acme-train/train/1",
    keys.DPU_KEY: "must be a DPUDeployment like dpus/acme",
    root_device.HCTL: "must be a SCSI address of four numbers like 0:2:0:0",
    slurm_accounting.DATABASE_NAME: (
        "must be lower-case letters, digits and '_' and start with a letter, at most 64 characters"
    ),
    slurm.MOUNT_PATH: "must be an absolute path of lower-case letters, digits, '-' and '_', other than /, like /home",
    base.PCI_SELECTOR: 'must be a PCI vendor and product like "10DE:2330"',
}


def example_of(pattern: str) -> str | None:
    """Return an example of text that matches ``pattern``; None if any name matches."""
    example = PATTERN_RULES.get(pattern, "").rpartition(" like ")[2].partition(",")[0].strip('"')
    return example if example and re.fullmatch(pattern, example) else None
