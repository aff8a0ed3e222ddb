"""Configurations of Prometheus and Alertmanager, as prometheus-operator and the chart make them from the objects.

Every target is scraped through the exporters of this region (``proxy_url``), because pods have no addresses on this
machine: address and labels of a target are those of a region, and the response comes from the process that stands for
it. A query parameter names the exporter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from jacquard.lab.rehearsal.monitoring import nodes, targets
from jacquard.lab.rehearsal.monitoring.durations import faster, shorter
from jacquard.lab.rehearsal.monitoring.observed import CHART, Agent, Object, Observed
from jacquard.lab.rehearsal.region import MANAGEMENT

Json = dict[str, Any]
EXPORTER, CLUSTER, NODE, PART, POD = "exporter", "cluster", "node", "part", "pod"
"""Query parameters of a scrape."""
API_SERVER, KUBE_STATE, NODE_EXPORTER, DCGM = "apiserver", "kube-state-metrics", "node-exporter", "dcgm-exporter"
PROGRAM = "program"
"""Exporter that is a program of the region, which the parameters `PART` and `POD` identify."""
NOTICES = "/notices/"
"""Path of the receiver, which ends with the name of a receiver of Alertmanager."""
_INTERVAL = "30s"
"""Interval of scrapes and rules by default (PO: scrapeInterval, evaluationInterval)."""
_SHORTEST_MILLISECONDS = 1000
_NAMESPACE = "monitoring"
_NO_RECEIVERS: Json = {"route": {"receiver": "null"}, "receivers": [{"name": "null"}]}
"""Configuration without values of a region: no notice is sent."""
_PORTS = {NODE_EXPORTER: 9100, DCGM: 9400}
_FIELDS = {"targetLabel": "target_label", "sourceLabels": "source_labels"}
"""Fields of a relabeling whose names differ from those of Prometheus."""


def prometheus(observed: Observed, *, exporters: str, alertmanager: str, speed: float) -> Json:
    """Return the configuration of Prometheus.

    Args:
        observed: the objects.
        exporters: host and port of the exporters.
        alertmanager: host and port of Alertmanager.
        speed: how much faster than in a region targets are scraped and rules evaluated.
    """
    spec = observed.values["prometheus"]["prometheusSpec"]
    interval = _interval(_INTERVAL, speed)
    scraped = {"proxy_url": f"http://{exporters}", "scrape_interval": interval, "scrape_timeout": interval}
    jobs = (*_of_chart(), *_of_monitors(observed), *_of_agents(observed))
    return {
        "global": {
            "scrape_interval": interval,
            "scrape_timeout": interval,
            "evaluation_interval": interval,
            "external_labels": dict(spec.get("externalLabels") or {}),
        },
        "rule_files": ["rules/*.yaml"],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
        "scrape_configs": [{**job, **scraped} for job in jobs],
    }


def rules(observed: Observed, speed: float) -> dict[str, Json]:
    """Return the rules of all PrometheusRules, by name of their file."""
    return {
        f"{rule['metadata']['namespace']}-{rule['metadata']['name']}.yaml": faster(rule["spec"], speed)
        for rule in observed.rules
    }


def alertmanager(observed: Observed, *, receiver: str, speed: float) -> Json:
    """Return the rendered routes, whose receivers all post to the receiver of this machine.

    Args:
        observed: the objects.
        receiver: host and port of the receiver.
        speed: how much shorter than in a region waiting times are.
    """
    configuration = (observed.values.get("alertmanager") or {}).get("config") or _NO_RECEIVERS
    kept = {key: value for key, value in faster(configuration, speed).items() if key != "global"}
    return {**kept, "receivers": [_local(one, receiver) for one in configuration["receivers"]]}


def _local(receiver: Json, address: str) -> Json:
    """Return a receiver whose channels are webhooks of this machine: it has no mail server and no credentials."""
    url = f"http://{address}{NOTICES}{quote(receiver['name'], safe='')}"
    channels = [
        {"url": url, "send_resolved": channel["send_resolved"]}
        for field, several in receiver.items()
        if field.endswith("_configs")
        for channel in several
    ]
    return {"name": receiver["name"], **({"webhook_configs": channels} if channels else {})}


def _of_chart() -> Iterator[Json]:
    """Yield the jobs of the chart in the management cluster."""
    service = f"{CHART}-{KUBE_STATE}"
    state = {"namespace": _NAMESPACE, "service": service, "endpoint": "http", "container": KUBE_STATE}
    address = f"{service}.{_NAMESPACE}.svc:8080"
    yield {**_job(KUBE_STATE, KUBE_STATE, MANAGEMENT, [_target(address, state)]), "honor_labels": True}
    labels = {"namespace": "default", "service": "kubernetes", "endpoint": "https"}
    yield _job(API_SERVER, API_SERVER, MANAGEMENT, [_target("kubernetes.default.svc:443", labels)])


def _of_monitors(observed: Observed) -> Iterator[Json]:
    """Yield the jobs of monitors, with the targets that a program of the region serves."""
    for job in targets.jobs(observed):
        served = [_of_program(target, target.program) for target in job.targets if target.program]
        if served:
            honoured = {"honor_labels": True} if job.endpoint.get("honorLabels") else {}
            relabelings = [_relabeling(one) for one in job.endpoint.get("relabelings", ())]
            yield {"job_name": job.name, **honoured, "static_configs": served, "relabel_configs": relabelings}


def _of_program(target: targets.Target, program: targets.Program) -> Json:
    cluster, _, name = program.part.rpartition("/")
    of = {EXPORTER: PROGRAM, PART: program.part, POD: program.pod}
    # An API server serves its metrics only to users with a permission, such as its administrator.
    chosen = {EXPORTER: API_SERVER, CLUSTER: cluster} if name == targets.API_SERVER else of
    return _target(target.address, {**target.labels, **{f"__param_{key}": value for key, value in chosen.items()}})


def _of_agents(observed: Observed) -> Iterator[Json]:
    for cluster, agent in observed.agents.items():
        state = {"namespace": _NAMESPACE, **agent.labels}
        address = f"{CHART}-{KUBE_STATE}.{_NAMESPACE}.svc:8080"
        yield {**_job(KUBE_STATE, KUBE_STATE, cluster, [_target(address, state)]), "honor_labels": True}
        yield _job(NODE_EXPORTER, NODE_EXPORTER, cluster, _on_nodes(agent, NODE_EXPORTER, agent.nodes))
        if agent.has_dcgm:
            with_gpus = tuple(node for node in agent.nodes if nodes.gpus(node))
            yield _job(DCGM, DCGM, cluster, _on_nodes(agent, DCGM, with_gpus))


def _on_nodes(agent: Agent, exporter: str, found: tuple[Object, ...]) -> list[Json]:
    return [
        _target(f"{address}:{_PORTS[exporter]}", {**agent.labels, f"__param_{NODE}": nodes.name_of(node)})
        for node in found
        if (address := nodes.address(node))
    ]


def _job(name: str, exporter: str, cluster: str, targets: list[Json]) -> Json:
    """Return a job; its name is unique, and the label ``job`` is ``exporter`` unless a relabeling changes it."""
    labelled = [{**target, "labels": {"job": exporter, **target["labels"]}} for target in targets]
    unique = name if "/" in name else f"{cluster}/{name}"
    return {"job_name": unique, "params": {EXPORTER: [exporter], CLUSTER: [cluster]}, "static_configs": labelled}


def _target(address: str, labels: Mapping[str, str]) -> Json:
    return {"targets": [address], "labels": dict(labels)}


def _relabeling(rendered: Json) -> Json:
    return {_FIELDS.get(field, field): value for field, value in rendered.items()}


def _interval(duration: str, speed: float) -> str:
    return shorter(duration, speed, minimum_milliseconds=_SHORTEST_MILLISECONDS)
