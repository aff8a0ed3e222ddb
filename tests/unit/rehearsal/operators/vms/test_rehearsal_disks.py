"""Prerequisites of CDI before it fills a disk."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.vms import volumes
from tests.support.objects.live_objects import obj

IMPORTER = obj(volumes.CDI, "CDI", "cdi", namespace="", status={"phase": "Deployed"})
CLASS = obj("storage.k8s.io/v1", "StorageClass", "vast", namespace="") | {"provisioner": "csi.vastdata.com"}
GOLDEN = obj(volumes.CDI, "DataVolume", "golden", status={"phase": "Succeeded"})
GOLDEN_CLAIM = obj("v1", "PersistentVolumeClaim", "golden", {"resources": {"requests": {"storage": "1Gi"}}})
OF_GOLDEN = {"source": {"pvc": {"name": "golden", "namespace": "ns"}}}
BY_NAME = {"sourceRef": {"kind": "DataSource", "name": "debian"}}
NAMED = obj(
    volumes.CDI, "DataSource", "debian", OF_GOLDEN, status={"conditions": [{"type": "Ready", "status": "True"}]}
)


FILLING = {**GOLDEN, "status": {"phase": "ImportInProgress"}}
TOO_SMALL = "target resources requests storage size is smaller than the source (512Mi < 1Gi)"


@pytest.mark.parametrize(
    ("spec", "size", "there", "why"),
    [
        (OF_GOLDEN, "1Gi", [], "PersistentVolumeClaim 'golden' not found"),
        (OF_GOLDEN, "1Gi", [GOLDEN_CLAIM, FILLING], "DataVolume 'golden' is not filled yet"),
        (OF_GOLDEN, "512Mi", [GOLDEN_CLAIM, GOLDEN], TOO_SMALL),
        (BY_NAME, "1Gi", [GOLDEN_CLAIM, GOLDEN], "DataSource 'debian' not found"),
        (BY_NAME, "512Mi", [GOLDEN_CLAIM, GOLDEN, NAMED], TOO_SMALL),
        ({"source": {"snapshot": {"name": "disk", "namespace": "ns"}}}, "1Gi", [], "VolumeSnapshot 'disk' not found"),
        ({"source": {"http": {"url": "u", "secretRef": "login"}}}, "1Gi", [], "Secret 'login' not found"),
        ({"source": {"registry": {"url": "u", "secretRef": "login"}}}, "1Gi", [], "Secret 'login' not found"),
    ],
)
def test_a_disk_waits_for_its_source(objects: Any, spec: Any, size: str, there: Any, why: str) -> None:
    disk = {"storage": {"storageClassName": "vast", "resources": {"requests": {"storage": size}}}, **spec}
    view = objects(obj(volumes.CDI, "DataVolume", "data", disk), CLASS, IMPORTER, *there)

    volumes.reconcile(view)

    assert view.get("DataVolume", "data", "ns")["status"]["conditions"][0]["message"] == why
    assert ("PersistentVolumeClaim", "ns", "data") not in view.store
