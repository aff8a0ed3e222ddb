"""The Pulumi Kubernetes Operator in the management cluster. The values are for its chart 2.9.0.

The chart's role lets the operator read all Secrets of the management cluster, in which it therefore must be trusted as
Flux is (PKO:deploy/helm/pulumi-operator/templates/clusterrole.yaml).
"""

from components.render.region.operators import Operator
from components.specs.region.region import RegionSpec

CHART = "pulumi-kubernetes-operator"
NAMESPACE = CHART
_OPERATOR = Operator(
    chart=CHART,
    namespace=NAMESPACE,
    values={
        # The chart's pod has no seccomp profile, which the Pod Security Standard requires.
        "podSecurityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        # With the chart's limit of 128 MiB, a cache of the Secrets of a large region would not fit.
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        # Users with the built-in roles view and edit must not read or start stacks.
        "rbac": {"createClusterAggregationRoles": False},
    },
)


def operators(region: RegionSpec) -> tuple[Operator, ...]:
    """Return the operator; nothing if ``jacquard up`` applies the slices itself."""
    return (_OPERATOR,) if region.engine else ()
