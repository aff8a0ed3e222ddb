"""Process with the monitoring of a region: ``python -m jacquard.lab.rehearsal.monitoring FOLDER``.

It serves the simulated exporters and the receiver of notices, and it does what prometheus-operator does: it writes the
configurations of Prometheus and Alertmanager from the objects in the management cluster, and keeps both running.
"""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.monitoring import configuration, programs, server, targets
from jacquard.lab.rehearsal.monitoring.exporters import Exporters, resources_of
from jacquard.lab.rehearsal.monitoring.observed import Apis, Object, Observed, observe
from jacquard.lab.rehearsal.monitoring.pages import Pages
from jacquard.lab.rehearsal.region import Region
from jacquard.machine import settings
from jacquard.providers.kube import ApiError

_LOG = logging.getLogger(__name__)
_PAUSE_SECONDS = 3.0


class Monitoring:
    """The monitoring of a region, with the objects that it found last."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._addresses = programs.Addresses.of(region)
        self._apis = Apis(region)
        self._observed: Observed | None = None
        self._speed = settings.speed()
        self._unread: set[str] = set()
        """Programs with changed files that they have not read."""
        exporters = Exporters(self._apis, self._resources, Pages(region, self._apis))
        server.start(self._addresses.exporters, exporters, programs.notices(region))

    def reconcile(self) -> None:
        """Write the configurations, and start or reload the programs; nothing before the release is installed."""
        self._observed = observe(self._apis) or self._observed
        if self._observed is None:
            return
        host, speed = self._addresses.host, self._speed
        routes = configuration.alertmanager(self._observed, receiver=host("exporters"), speed=speed)
        self._run(programs.ALERTMANAGER, routes, {})
        programs.write_unserved(self._region, targets.without_program(self._observed))
        scrapes = configuration.prometheus(
            self._observed, exporters=host("exporters"), alertmanager=host(programs.ALERTMANAGER), speed=speed
        )
        self._run(programs.PROMETHEUS, scrapes, configuration.rules(self._observed, speed))

    def _run(self, program: str, written: configuration.Json, rules: dict[str, configuration.Json]) -> None:
        if programs.write(self._region, program, written, rules):
            self._unread.add(program)
        if not programs.start(self._region, program, self._addresses) and program in self._unread:
            programs.reload(program, self._addresses)
        self._unread.discard(program)

    def _resources(self) -> list[Object]:
        return resources_of(self._observed.values) if self._observed else []


def main() -> None:
    """Run until the folder of the monitoring is removed."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    folder = Path(sys.argv[-1])
    region = Region(folder.name, folder)
    monitoring = Monitoring(region)
    while programs.folder(region).is_dir():
        try:
            monitoring.reconcile()
        except (ApiError, RehearsalError, OSError) as error:
            _LOG.warning("%s", error)
        except Exception:  # noqa: BLE001 - logged with its traceback; a later round may succeed
            _LOG.exception("a round failed")
        time.sleep(_PAUSE_SECONDS)


if __name__ == "__main__":
    main()
