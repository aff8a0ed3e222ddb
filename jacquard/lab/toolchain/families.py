"""Table of the families to build: one row for each Go module folder, in build order.

Expected times were measured on two cores from an empty cache, in this order (later rows reuse compiled packages). Disk
is the peak size that a row adds to the caches of the build. Both are informational and not part of the row's key.
"""

from jacquard.lab.toolchain.family import Binary, Data, Family

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

FAMILIES = (
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
        binaries=(Binary(name="etcd", package="go.etcd.io/etcd/server/v3", expected_seconds=45),),
        disk_bytes=700 << 20,
    ),
    Family(
        name="kwok",
        module="sigs.k8s.io/kwok",
        binaries=(
            Binary(name="kwok", package="sigs.k8s.io/kwok/cmd/kwok", expected_seconds=80),
            Binary(name="kwokctl", package="sigs.k8s.io/kwok/cmd/kwokctl", expected_seconds=10),
        ),
        disk_bytes=1300 << 20,
    ),
    Family(
        name="pulumi",
        module="github.com/pulumi/pulumi/pkg/v3",
        binaries=(Binary(name="pulumi", package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", expected_seconds=200),),
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
        binaries=(
            Binary(name="kube-apiserver", package="k8s.io/kubernetes/cmd/kube-apiserver", expected_seconds=190),
            Binary(
                name="kube-controller-manager",
                package="k8s.io/kubernetes/cmd/kube-controller-manager",
                expected_seconds=55,
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
        binaries=(Binary(name="cluster-api-manager", package="sigs.k8s.io/cluster-api", expected_seconds=120),),
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
        name="actionlint",
        module="github.com/rhysd/actionlint",
        binaries=(
            Binary(name="actionlint", package="github.com/rhysd/actionlint/cmd/actionlint", expected_seconds=25),
        ),
        disk_bytes=150 << 20,
    ),
    Family(
        name="alertmanager",  # judges and sends alerts in tests; the version that the pinned chart runs
        module="github.com/prometheus/alertmanager",
        binaries=(
            Binary(
                name="alertmanager", package="github.com/prometheus/alertmanager/cmd/alertmanager", expected_seconds=60
            ),
            Binary(name="amtool", package="github.com/prometheus/alertmanager/cmd/amtool", expected_seconds=5),
        ),
        disk_bytes=900 << 20,
    ),
    Family(
        name="victoria-metrics",  # evaluates alerts in tests; promtool of Prometheus takes four times as long to build
        module="github.com/VictoriaMetrics/VictoriaMetrics",
        binaries=(
            Binary(
                name="vmalert",
                package="github.com/VictoriaMetrics/VictoriaMetrics/app/vmalert",
                expected_seconds=25,
            ),
            Binary(
                name="vmalert-tool",
                package="github.com/VictoriaMetrics/VictoriaMetrics/app/vmalert-tool",
                expected_seconds=30,
            ),
        ),
        disk_bytes=600 << 20,
    ),
    Family(
        name="versitygw",  # a real S3 server, which holds state of the engine in tests
        module="github.com/versity/versitygw",
        binaries=(Binary(name="versitygw", package="github.com/versity/versitygw/cmd/versitygw", expected_seconds=90),),
        disk_bytes=900 << 20,
    ),
    Family(
        name="victoria-metrics-operator",  # runs in tests, with the store and the proxy of its release
        module="github.com/VictoriaMetrics/operator",
        binaries=(
            Binary(
                name="victoria-logs",
                package="github.com/VictoriaMetrics/VictoriaLogs/app/victoria-logs",
                expected_seconds=60,
            ),
            Binary(
                name="victoria-metrics",
                package="github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics",
                expected_seconds=30,
            ),
            Binary(name="vmauth", package="github.com/VictoriaMetrics/VictoriaMetrics/app/vmauth", expected_seconds=5),
            Binary(name="vmoperator", package="github.com/VictoriaMetrics/operator/cmd", expected_seconds=180),
        ),
        data=(
            Data(
                name="victoria-metrics-crds",
                module="github.com/VictoriaMetrics/operator",
                contents=("config/crd/overlay/crd.descriptionless.yaml",),
            ),
        ),
        disk_bytes=2500 << 20,
    ),
    Family(
        name="otel-collector",  # runs in tests; with the components of our configuration whose modules are available
        module="go.opentelemetry.io/collector/otelcol",
        binaries=(Binary(name="otelcol", package="jacquard.invalid/toolchain/otel-collector", expected_seconds=150),),
        disk_bytes=1500 << 20,
    ),
    Family(
        name="helm",  # the version that Flux' helm-controller 1.6.3 embeds
        module="helm.sh/helm/v4",
        binaries=(Binary(name="helm", package="helm.sh/helm/v4/cmd/helm", expected_seconds=95),),
        disk_bytes=1200 << 20,
    ),
    Family(
        name="metallb",
        module="go.universe.tf/metallb",
        binaries=(Binary(name="metallb-controller", package="go.universe.tf/metallb/controller", expected_seconds=75),),
        data=(Data(name="metallb", module="go.universe.tf/metallb", contents=("charts/metallb",)),),
        disk_bytes=900 << 20,
    ),
    Family(
        name="external-dns",  # for the image of the pinned chart; the chart is part of a later module
        module="sigs.k8s.io/external-dns",
        binaries=(Binary(name="external-dns", package="sigs.k8s.io/external-dns", expected_seconds=230),),
        disk_bytes=3000 << 20,
    ),
    Family(
        name="node-feature-discovery",
        module="sigs.k8s.io/node-feature-discovery",
        binaries=(
            Binary(
                name="nfd-master", package="sigs.k8s.io/node-feature-discovery/cmd/nfd-master", expected_seconds=100
            ),
        ),
        stamps=("sigs.k8s.io/node-feature-discovery/pkg/version.version={version}",),
        disk_bytes=1400 << 20,
    ),
    Family(
        name="node-problem-detector",  # as upstream without journald, and without other monitors and exporters
        module="k8s.io/node-problem-detector",
        binaries=(
            Binary(
                name="node-problem-detector",
                package="k8s.io/node-problem-detector/cmd/nodeproblemdetector",
                expected_seconds=100,
            ),
        ),
        data=(Data(name="node-problem-monitors", module="k8s.io/node-problem-detector", contents=("config",)),),
        tags="disable_custom_plugin_monitor,disable_stackdriver_exporter,disable_system_stats_monitor",
        disk_bytes=900 << 20,
    ),
    Family(
        name="distribution",
        module="github.com/distribution/distribution/v3",
        binaries=(
            Binary(
                name="registry", package="github.com/distribution/distribution/v3/cmd/registry", expected_seconds=100
            ),
        ),
        disk_bytes=1900 << 20,
    ),
    Family(
        name="slurm-operator",  # runs in tests; with a release candidate of its client library (see go.mod)
        module="github.com/SlinkyProject/slurm-operator",
        binaries=(
            Binary(
                name="slurm-operator-manager",
                package="github.com/SlinkyProject/slurm-operator/cmd/manager",
                expected_seconds=180,
            ),
        ),
        disk_bytes=3400 << 20,
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

_LINTERS = {"actionlint", "alertmanager", "victoria-metrics"}
_NIGHTLY = {"otel-collector", "slurm-operator", "versitygw", "victoria-metrics-operator"}


def linters() -> tuple[Family, ...]:
    """Return the families that `make lint` builds."""
    return tuple(family for family in FAMILIES if family.name in _LINTERS)


def nightly() -> tuple[Family, ...]:
    """Return the families that only tests of `make test-nightly` run."""
    return tuple(family for family in FAMILIES if family.name in _NIGHTLY)


def needed(*, engine: bool, cluster: str) -> tuple[Family, ...]:
    """Return the families that this machine needs.

    Args:
        engine: whether the engine is built instead of using the vendor's.
        cluster: value of JACQUARD_CLUSTER. kind includes Kubernetes; a named context provides it only for the
            management cluster.
    """
    skipped = {
        *_LINTERS,
        *_NIGHTLY,
        *(() if engine else ("pulumi",)),
        *(("kubernetes", "etcd") if cluster == "kind" else ()),
    }
    return tuple(family for family in FAMILIES if family.name not in skipped)
