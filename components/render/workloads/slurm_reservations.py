"""CronJob that holds Machines whose nodes a reservation of Slurm needs, in the namespace of the cluster.

Only pools whose drains wait for jobs respect reservations: the others replace nodes at any time.
"""

import json
from collections.abc import Mapping
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.platform_pods import role
from components.render.program_pods import program
from components.render.workloads.slurm_pool import NAMESPACE
from components.specs.struct import Struct

NAME = "slurm-reservations"
PROGRAM = ("slurm_reservations.py", "objects.py", "api.py")
SETTINGS = "settings.json"
_SERVICE = "slurm-restapi:6820"
"""Service of slurmrestd, and its port (SLURMOP:internal/builder/restapibuilder/restapi_service.go)."""
_PATH = "/slurm/v0.0.44/reservations/"
"""Reservations in the version of the API that the operator uses."""
_USER = "slurm"
"""Administrator of Slurm in the operator's images, who sees all reservations."""
_EVERY_MINUTES, _RUN_SECONDS = 2, 100


class SlurmReservations(Struct):
    """Reservations of the Slurm cluster of one tenant cluster."""

    cluster: str
    keys_secret: str
    """Secret with the key that signs tokens of slurmrestd."""
    replacement_seconds: Mapping[str, int]
    """Duration of a node's replacement by pool, without the time until its jobs have ended."""
    image: str
    """Container image of Python, with digest."""

    def in_management(self, labels: Mapping[str, str]) -> tuple[Manifest, ...]:
        """Return the CronJob with its program, and a role that reads and annotates Machines of the cluster."""
        place: dict[str, Any] = {"namespace": self.cluster, "labels": labels}
        rules = [{"apiGroups": ["cluster.x-k8s.io"], "resources": ["machines"], "verbs": ["list", "patch"]}]
        settings = {
            "cluster": self.cluster,
            "namespace": NAMESPACE,
            "service": _SERVICE,
            "path": _PATH,
            "keys_secret": self.keys_secret,
            "user": _USER,
            "pools": dict(self.replacement_seconds),
        }
        return (
            manifest("v1", "ServiceAccount", NAME, **place),
            *role(NAME, rules, account=(self.cluster, NAME), **place),
            *program(
                NAME,
                self.image,
                PROGRAM,
                **place,
                settings={SETTINGS: json.dumps(settings, indent=1) + "\n"},
                every_minutes=_EVERY_MINUTES,
                run_seconds=_RUN_SECONDS,
                kubeconfig=f"{self.cluster}-kubeconfig",
            ),
        )
