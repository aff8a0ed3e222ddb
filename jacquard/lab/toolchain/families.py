"""Table of the families to build, in build order.

Expected times were measured on two cores from an empty cache, in this order; later rows reuse compiled packages. Disk
is the peak size that a row adds to the caches of the build. Both are informational and not part of the row's key.
"""

from jacquard.lab.toolchain.family import Binary, Data, Family
from jacquard.lab.toolchain.repository_families import LINTERS, NIGHTLY

_KUBERNETES_STAMPS = tuple(
    f"{package}.{field}={value}"
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    for field, value in (
        ("gitVersion", "{version}"),
        ("gitMajor", "{major}"),
        ("gitMinor", "{minor}"),
        ("gitTreeState", "clean"),
    )
)

_REGION = (
    Family(
        name="crds",
        module="github.com/metal3-io/baremetal-operator",
        data=(
            Data(
                name="kamaji-control-plane",
                module="github.com/clastix/cluster-api-control-plane-provider-kamaji",
                contents=("config/crd/bases",),
            ),
            Data(
                name="baremetal-operator",
                module="github.com/metal3-io/baremetal-operator",
                contents=("config/base/crds/bases",),
            ),
        ),
        disk_bytes=20 << 20,
    ),
    Family(
        name="etcd",
        module="go.etcd.io/etcd/server/v3",
        aligned=True,
        binaries=(Binary(name="etcd", package="go.etcd.io/etcd/server/v3", expected_seconds=40),),
        disk_bytes=700 << 20,
    ),
    Family(
        name="kwok",
        module="sigs.k8s.io/kwok",
        aligned=True,
        binaries=(
            Binary(name="kwok", package="sigs.k8s.io/kwok/cmd/kwok", expected_seconds=60),
            Binary(name="kwokctl", package="sigs.k8s.io/kwok/cmd/kwokctl", expected_seconds=10),
        ),
        disk_bytes=1300 << 20,
    ),
    Family(
        name="pulumi",
        module="github.com/pulumi/pulumi/pkg/v3",
        binaries=(Binary(name="pulumi", package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", expected_seconds=180),),
        data=(
            Data(
                name="pulumi-sdk",
                module="github.com/pulumi/pulumi/sdk/v3",
                contents=("python/cmd/pulumi-language-python-exec",),
            ),
        ),
        tags="osusergo,grpcnotrace",
        stamps=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}",),
        disk_bytes=3100 << 20,
    ),
    Family(
        name="kubernetes",
        module="k8s.io/kubernetes",
        aligned=True,
        binaries=(
            Binary(name="kube-apiserver", package="k8s.io/kubernetes/cmd/kube-apiserver", expected_seconds=130),
            Binary(
                name="kube-controller-manager",
                package="k8s.io/kubernetes/cmd/kube-controller-manager",
                expected_seconds=50,
            ),
            Binary(name="kube-scheduler", package="k8s.io/kubernetes/cmd/kube-scheduler", expected_seconds=5),
            Binary(name="kubectl", package="k8s.io/kubernetes/cmd/kubectl", expected_seconds=20),
        ),
        stamps=_KUBERNETES_STAMPS,
        disk_bytes=3300 << 20,
    ),
    Family(
        name="cluster-api",
        module="sigs.k8s.io/cluster-api",
        aligned=True,
        binaries=(Binary(name="cluster-api-manager", package="sigs.k8s.io/cluster-api", expected_seconds=30),),
        data=(
            Data(
                name="cluster-api",
                module="sigs.k8s.io/cluster-api",
                contents=(
                    "config/crd/bases",
                    "bootstrap/kubeadm/config/crd/bases",
                    "config/webhook/manifests.yaml",
                ),
            ),
        ),
        stamps=(
            "sigs.k8s.io/cluster-api/version.gitVersion={version}",
            "sigs.k8s.io/cluster-api/version.gitMajor={major}",
            "sigs.k8s.io/cluster-api/version.gitMinor={minor}",
        ),
        disk_bytes=2500 << 20,
    ),
    Family(
        name="helm",  # the version that Flux' helm-controller 1.6.3 embeds
        module="helm.sh/helm/v4",
        aligned=True,
        binaries=(Binary(name="helm", package="helm.sh/helm/v4/cmd/helm", expected_seconds=20),),
        disk_bytes=1200 << 20,
    ),
    Family(
        name="node-feature-discovery",
        module="sigs.k8s.io/node-feature-discovery",
        aligned=True,
        binaries=(
            Binary(name="nfd-master", package="sigs.k8s.io/node-feature-discovery/cmd/nfd-master", expected_seconds=5),
        ),
        stamps=("sigs.k8s.io/node-feature-discovery/pkg/version.version={version}",),
        disk_bytes=1400 << 20,
    ),
    Family(
        name="node-problem-detector",  # as upstream without journald, and without other monitors and exporters
        module="k8s.io/node-problem-detector",
        aligned=True,
        binaries=(
            Binary(
                name="node-problem-detector",
                package="k8s.io/node-problem-detector/cmd/nodeproblemdetector",
                expected_seconds=5,
            ),
        ),
        data=(Data(name="node-problem-monitors", module="k8s.io/node-problem-detector", contents=("config",)),),
        tags="disable_custom_plugin_monitor,disable_stackdriver_exporter,disable_system_stats_monitor",
        disk_bytes=900 << 20,
    ),
    Family(
        name="distribution",
        module="github.com/distribution/distribution/v3",
        aligned=True,
        binaries=(Binary(name="registry", package="jacquard.invalid/toolchain/region", expected_seconds=15),),
        disk_bytes=300 << 20,
    ),
    Family(
        name="charts",
        module="sigs.k8s.io/node-feature-discovery",
        data=tuple(
            Data(name=name, module=module, contents=tuple(contents))
            for name, module, *contents in (
                ("cert-manager", "github.com/cert-manager/cert-manager", "deploy/charts/cert-manager"),
                ("cluster-api-operator", "sigs.k8s.io/cluster-api-operator", "hack/charts/cluster-api-operator"),
                ("external-dns-chart", "sigs.k8s.io/external-dns", "charts/external-dns"),
                ("kueue", "sigs.k8s.io/kueue", "charts/kueue"),
                ("lws", "sigs.k8s.io/lws", "charts/lws"),
                ("metallb", "go.universe.tf/metallb", "charts/metallb"),
                (
                    "node-feature-discovery",
                    "sigs.k8s.io/node-feature-discovery",
                    "deployment/helm/node-feature-discovery",
                ),
                (
                    "slurm-operator",
                    "github.com/SlinkyProject/slurm-operator",
                    "helm/slurm-operator",
                    "helm/slurm-operator-crds",
                ),
                ("topolvm", "github.com/topolvm/topolvm", "charts/topolvm"),
            )
        ),
        disk_bytes=200 << 20,
    ),
    Family(
        name="former-charts",  # tests promote from this older chart release and roll back to it
        module="sigs.k8s.io/node-feature-discovery",
        data=(
            Data(
                name="node-feature-discovery-former",
                module="sigs.k8s.io/node-feature-discovery",
                contents=("deployment/helm/node-feature-discovery",),
            ),
        ),
        disk_bytes=20 << 20,
    ),
)
"""Families that a region on this machine can need."""
CONTROLLERS = (
    Family(
        name="metallb",
        module="go.universe.tf/metallb",
        binaries=(Binary(name="metallb-controller", package="go.universe.tf/metallb/controller", expected_seconds=75),),
        disk_bytes=900 << 20,
    ),
    Family(
        name="external-dns",  # for the image of the pinned chart; the chart is part of a later module
        module="sigs.k8s.io/external-dns",
        aligned=True,
        binaries=(Binary(name="external-dns", package="sigs.k8s.io/external-dns", expected_seconds=230),),
        disk_bytes=3000 << 20,
    ),
)
"""Controllers of add-ons that a region simulates unless they are built; they take a quarter of all builds."""
_MONITORING = tuple(family for family in (*LINTERS, *NIGHTLY) if family.name in ("alertmanager", "prometheus"))
"""Families that the monitoring of a local region needs."""
FAMILIES = (*_REGION, *CONTROLLERS, *LINTERS, *NIGHTLY)


def needed(*, engine: bool, cluster: str, controllers: bool = False, monitoring: bool = False) -> tuple[Family, ...]:
    """Return the families that this machine needs.

    Args:
        engine: whether the engine is built instead of using the vendor's.
        cluster: value of JACQUARD_CLUSTER. kind includes Kubernetes; a named context provides it only for the
            management cluster.
        controllers: whether the real controllers of add-ons are needed too, which are simulated otherwise.
        monitoring: whether JACQUARD_MONITORING is on.
    """
    provided = {*(() if engine else ("pulumi",)), *(("kubernetes", "etcd") if cluster == "kind" else ())}
    region = (family for family in _REGION if family.name not in provided)
    return (*region, *(CONTROLLERS if controllers else ()), *(_MONITORING if monitoring else ()))
