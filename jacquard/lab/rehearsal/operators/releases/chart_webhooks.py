"""Webhooks of real charts in tenant clusters, while no pod could answer them: requests for their kinds are rejected.

No simulated pod answers requests. A webhook that fails closed is therefore installed only until a pod of its Service
runs, with an address that refuses connections. With the address of the Service, each request would wait for
``timeoutSeconds``, because no network connects the API server with Services. Webhooks that fail open have no effect.
"""

from collections.abc import Iterable, Iterator

from jacquard.lab.rehearsal.operators.view import Object, View, deleting
from jacquard.providers.kube.objects import dig

_API = "admissionregistration.k8s.io/v1"
KINDS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_REFUSING = "https://127.0.0.1:9"
"""The port of the discard protocol, on which no process listens."""


def unanswered(target: View, bodies: Iterable[Object]) -> Iterator[Object]:
    """Yield webhook configurations with only the webhooks that fail closed and have no running pod, if any."""
    for body in bodies:
        webhooks = []
        for webhook in body.get("webhooks") or ():
            service = dig(webhook, "clientConfig", "service")
            if service and webhook.get("failurePolicy") != "Ignore" and not _runs(target, **_identity(service)):
                url = f"{_REFUSING}/{service['namespace']}/{service['name']}"
                webhooks.append({**webhook, "clientConfig": {"url": url}})
        if webhooks:
            yield {**body, "webhooks": webhooks}


def remove_answered(target: View, bodies: Iterable[Object]) -> bool:
    """Delete installed configurations when pods of all their Services run; return whether a configuration remains."""
    remaining = False
    for body in bodies:
        urls = {dig(webhook, "clientConfig", "url") or "" for webhook in body.get("webhooks") or ()}
        services = [url.removeprefix(f"{_REFUSING}/").partition("/") for url in urls]
        if all(_runs(target, namespace, name) for namespace, _, name in services):
            target.delete(body)
        else:
            remaining = True
    return remaining


def configurations(target: View) -> Iterator[Object]:
    """Yield all webhook configurations of a cluster."""
    for kind in KINDS:
        yield from target.all(_API, kind)


def _identity(service: Object) -> dict[str, str]:
    return {"namespace": service["namespace"], "name": service["name"]}


def _runs(target: View, namespace: str, name: str) -> bool:
    """Return whether a running pod belongs to a Service."""
    selector = (dig(target.find("v1", "Service", name, namespace), "spec", "selector") or {}).items()
    return bool(selector) and any(
        selector <= (pod["metadata"].get("labels") or {}).items()
        and pod["metadata"]["namespace"] == namespace
        and dig(pod, "status", "phase") == "Running"
        and not deleting(pod)
        for pod in target.all("v1", "Pod")
    )
