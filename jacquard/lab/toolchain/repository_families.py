"""Families that only work on this repository needs: linters, and programs that tests run.

The monitoring of a local region needs two of them.
"""

from jacquard.lab.toolchain.family import Binary, Data, Family

LINTERS = (
    Family(
        name="actionlint",
        module="github.com/rhysd/actionlint",
        binaries=(
            Binary(name="actionlint", package="github.com/rhysd/actionlint/cmd/actionlint", expected_seconds=25),
        ),
        disk_bytes=150 << 20,
    ),
    Family(
        name="alertmanager",  # judges and sends alerts; the version that the pinned chart runs
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
)
"""Families that `make lint` builds."""
NIGHTLY = (
    Family(
        name="etcdutl",  # restores snapshots in tests; the release of the etcd of local regions
        module="go.etcd.io/etcd/etcdutl/v3",
        binaries=(Binary(name="etcdutl", package="go.etcd.io/etcd/etcdutl/v3", expected_seconds=30),),
        disk_bytes=300 << 20,
    ),
    Family(
        name="seaweedfs",  # a real object store, whose buckets and keys tests create as its operator does
        module="github.com/seaweedfs/seaweedfs",
        binaries=(Binary(name="weed", package="github.com/seaweedfs/seaweedfs/weed", expected_seconds=700),),
        disk_bytes=4000 << 20,
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
        name="prometheus",  # for tests and local regions; the first release that builds without service discoveries
        module="github.com/prometheus/prometheus",
        binaries=(
            Binary(name="prometheus", package="github.com/prometheus/prometheus/cmd/prometheus", expected_seconds=170),
            Binary(name="promtool", package="github.com/prometheus/prometheus/cmd/promtool", expected_seconds=30),
        ),
        tags="remove_all_sd",
        disk_bytes=1500 << 20,
    ),
    Family(
        name="kind",  # judges our configuration of its clusters in tests; no container runs
        module="sigs.k8s.io/kind",
        binaries=(Binary(name="kind", package="sigs.k8s.io/kind", expected_seconds=40),),
        disk_bytes=250 << 20,
    ),
    Family(
        name="otel-collector",  # runs in tests; with the components of our configuration whose modules are available
        module="go.opentelemetry.io/collector/otelcol",
        binaries=(Binary(name="otelcol", package="jacquard.invalid/toolchain/otel-collector", expected_seconds=150),),
        disk_bytes=1500 << 20,
    ),
    Family(
        name="flux",  # runs in tests, with rendered layouts; helm-controller is not available as a module
        module="github.com/fluxcd/kustomize-controller",
        binaries=tuple(
            Binary(name=name, package=f"github.com/fluxcd/{name}", expected_seconds=seconds)
            for name, seconds in (("kustomize-controller", 400), ("source-controller", 150))
        ),
        data=tuple(
            Data(name=f"{name}-kinds", module=f"github.com/fluxcd/{name}", contents=("config/crd/bases",))
            for name in ("kustomize-controller", "source-controller")
        ),
        disk_bytes=3000 << 20,
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
        name="kueue",  # runs in tests, with rendered queues
        module="sigs.k8s.io/kueue",
        binaries=(Binary(name="kueue-controller", package="sigs.k8s.io/kueue/cmd/kueue", expected_seconds=450),),
        stamps=("sigs.k8s.io/kueue/pkg/version.GitVersion={version}",),
        disk_bytes=2000 << 20,
    ),
    Family(
        name="pulumi-yaml",  # Tests run programs in YAML with it.
        module="github.com/pulumi/pulumi-yaml",
        binaries=(
            Binary(
                name="pulumi-language-yaml",
                package="github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
                expected_seconds=180,
            ),
        ),
        disk_bytes=900 << 20,
    ),
    Family(
        name="lws",  # runs in tests, with rendered endpoints
        module="sigs.k8s.io/lws",
        binaries=(Binary(name="lws-manager", package="sigs.k8s.io/lws/cmd", expected_seconds=180),),
        disk_bytes=1200 << 20,
    ),
)
"""Families that only tests of `make test-nightly` run."""
