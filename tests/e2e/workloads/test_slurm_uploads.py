"""Debian's rclone copies dumps of the accounting's database to a real S3 server, as the rendered container does.

The server is Versity's gateway: its buckets are folders, so that the test reads the copied files.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.render.workloads.slurm_backup import DUMPS, KEYS, NAME
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.engine.state_stores import S3
from tests.support.objects.rendered_objects import objects_of
from tests.support.storage.rclone import Rclone
from tests.support.workloads.slurm_clusters import slurm_input

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

BUCKET, SECRET, DUMP = "dumps", "keys-of-dumps", "slurm-database-backup-1.sql.gz"
SERVER = {"storage_class": "shared-nfs", "size": "20Gi"}


def container(endpoint: str) -> dict[str, Any]:
    """Return the rendered container that copies dumps to a bucket of the store at ``endpoint``."""
    backup = {"schedule": "0 2 * * *", "endpoint": "https://objects.example", "bucket": BUCKET, "secret": SECRET}
    accounting = {"server": {**SERVER, "backup": backup}, "password_secret": "database"}
    objects = objects_of(slurm_input(load_environment("laptop", ENVIRONMENTS), accounting=accounting))
    [job] = [item for item in objects if (item.kind, item.name) == ("CronJob", NAME)]
    [found] = job.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    # The data accept HTTPS only; the server of the test has no certificate.
    env = [{**item, "value": endpoint} if item["name"] == "RCLONE_S3_ENDPOINT" else item for item in found["env"]]
    return {**found, "env": env}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    started = S3(tmp_path_factory.mktemp("s3") / "store")
    (started.folder / "buckets" / BUCKET).mkdir()
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    folder = tmp_path / "dumps"
    folder.mkdir()
    (folder / DUMP).write_bytes(b"\x1f\x8b dump")
    return folder


def copied(store: S3, dumps: Path, bucket: str = BUCKET, **further: str) -> subprocess.CompletedProcess[str]:
    """Run the container with ``further`` variables, and with keys of the store unless they override these."""
    keys = {name: further.pop(name, store.variables[name]) for name in KEYS}
    found = container(f"http://127.0.0.1:{store.port}")
    found["args"] = [argument.replace(f":s3:{BUCKET}/", f":s3:{bucket}/") for argument in found["args"]]
    found["env"] += [{"name": name, "value": value} for name, value in further.items()]
    return Rclone().run(found, {SECRET: keys}, {DUMPS: dumps})


def stored(store: S3) -> dict[str, bytes]:
    """Return the objects of the folder of the cluster."""
    folder = store.folder / "buckets" / BUCKET / "slurm" / "acme-train"
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_dumps_are_copied_to_the_folder_of_the_cluster_and_earlier_ones_stay(store: S3, dumps: Path) -> None:
    first = copied(store, dumps)
    assert first.returncode == 0, first.stderr
    assert stored(store) == {DUMP: b"\x1f\x8b dump"}

    (dumps / DUMP).rename(dumps / "later.sql.gz")
    second = copied(store, dumps)
    assert second.returncode == 0, second.stderr
    assert stored(store).keys() == {DUMP, "later.sql.gz"}


def test_a_dump_larger_than_a_single_request_is_copied_in_parts(store: S3, dumps: Path) -> None:
    large = bytes(range(256)) * (12 << 12)
    (dumps / "large.sql.gz").write_bytes(large)

    done = copied(store, dumps, RCLONE_S3_UPLOAD_CUTOFF="5Mi", RCLONE_S3_CHUNK_SIZE="5Mi")

    assert done.returncode == 0, done.stderr
    assert stored(store)["large.sql.gz"] == large


def test_an_upload_with_a_wrong_key_fails_the_job(store: S3, dumps: Path) -> None:
    done = copied(store, dumps, AWS_SECRET_ACCESS_KEY="wrong")

    assert done.returncode != 0
    assert "SignatureDoesNotMatch" in done.stderr


def test_an_upload_to_a_bucket_that_does_not_exist_fails_and_creates_none(store: S3, dumps: Path) -> None:
    done = copied(store, dumps, "missing")

    assert done.returncode != 0
    assert "NoSuchBucket" in done.stderr
    assert not (store.folder / "buckets" / "missing").exists()
