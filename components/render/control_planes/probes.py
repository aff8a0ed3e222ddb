"""Probes of the containers of control planes by Kamaji: those of kubeadm, which tolerate overload.

Kamaji's defaults restart an API server that does not respond within a second three times in succession, or within 30 s
after its start (KAMAJI:internal/builders/controlplane/deployment.go, ``defaultProbe``). While all nodes return after an
outage, a server without a free CPU responds to probes after several seconds. A restart ends all connections of the
server, so that its nodes return again, to the remaining servers.
"""

from typing import Any

_TIMEOUT_SECONDS = 15
_FAILURES = 8
"""Failures before a container is restarted; with the period of 10 s, about 80 s."""
_FAILURES_AT_START = 24
"""Failures before a container that starts is restarted: 4 min, kubeadm's timeout for control planes."""

PROBES: dict[str, dict[str, Any]] = {
    "liveness": {"timeoutSeconds": _TIMEOUT_SECONDS, "failureThreshold": _FAILURES},
    "readiness": {"timeoutSeconds": _TIMEOUT_SECONDS},
    "startup": {"timeoutSeconds": _TIMEOUT_SECONDS, "failureThreshold": _FAILURES_AT_START},
}
"""Probes of all containers (kubernetes:cmd/kubeadm/app/util/staticpod/utils.go). Period and failures of readiness are
Kamaji's, 10 s and 3: kubeadm's period of 1 s would be further load."""
INHERITED: dict[str, Any] = {}
"""Probes of one component. The provider ignores the probes of the deployment unless each component has this field
(KCPP:controllers/kamajicontrolplane_controller_tcp.go)."""
