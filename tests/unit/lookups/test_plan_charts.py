"""A region installs exactly the charts that its backends, storage and VMs require."""

from __future__ import annotations

from components.lookups.charts import needed_charts
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS


def test_each_chart_is_required_by_a_value_in_the_data() -> None:
    assert needed_charts(load_environment("eu-south-03a", ENVIRONMENTS)) == {
        "cert-manager": ("region.yaml", ("region",)),
        "metallb": ("region.yaml", ("region",)),
        "kube-prometheus-stack": ("region.yaml", ("region",)),
        "cluster-api-operator": ("region.yaml", ("region",)),
        "ironcore-metal": ("region.yaml", ("region",)),
        "zot": ("region.yaml", ("registry", "cache")),
        "victoria-metrics-operator": ("region.yaml", ("observability", "metrics", "address")),
        "opentelemetry-collector": ("region.yaml", ("observability", "logs")),
        "dpf-hbn": ("region.yaml", ("dpus",)),
        "snapshot-controller": ("region.yaml", ("storage", 0, "driver")),
        "topolvm": ("region.yaml", ("storage", 0, "driver")),
        "csi-driver-nfs": ("region.yaml", ("storage", 1, "driver")),
        **dict.fromkeys(
            (
                "cilium",
                "node-feature-discovery",
                "node-problem-detector",
                "node-readiness-controller",
                "gpu-operator",
                "metrics-server",
            ),
            ("tenants/solstice.yaml", ("clusters", 0, "add_ons")),
        ),
        **dict.fromkeys(("network-operator", "nv-ipam"), ("tenants/wisent.yaml", ("clusters", 0))),
        "flux": ("tenants/vireo.yaml", ("clusters", 0, "flux")),
        "kube-ovn": ("tenants/tessera.yaml", ("vpcs", 0, "isolation")),
        "kubevirt-operator": ("tenants/tessera.yaml", ("vms",)),
        "cdi-operator": ("tenants/tessera.yaml", ("vms",)),
    }
