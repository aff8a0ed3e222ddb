"""Expressions for agents and controllers without pods, based on kube-state-metrics."""


def missing_agents(selector: str) -> str:
    """Return the expression for DaemonSets with more missing pods than nodes are not ready.

    Args:
        selector: matchers of the labels of the DaemonSets.
    """
    not_ready = 'sum(kube_node_status_condition{condition="Ready",status!="true"})'
    return f"kube_daemonset_status_number_unavailable{{{selector}}} > scalar({not_ready})"


def without_pods(selector: str) -> str:
    """Return the expression for Deployments that have no available pod and should have one.

    Args:
        selector: matchers of the labels of the Deployments.
    """
    available, wanted = (
        f"kube_deployment_{metric}{{{selector}}}" for metric in ("status_replicas_available", "spec_replicas")
    )
    return f"{available} == 0 and on (namespace, deployment) {wanted} > 0"
