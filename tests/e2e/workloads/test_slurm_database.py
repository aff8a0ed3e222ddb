"""Real MariaDB and slurmdbd with the rendered pod of the database: its commands, configuration and statements.

No container runs: the programs are those of Debian 12, MariaDB 10.11 and Slurm 22.05, started in folders of the test.
This release of Slurm has no ``auth/slurm``, so slurmdbd authenticates by MUNGE; its lines about the storage are those
that Slinky's operator writes.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.render.manifest import Manifest
from components.specs.reading.loader import load_environment
from components.specs.workloads.slurm_accounting import LEAST_MEMORY
from jacquard.machine import paths
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.local_regions.local_region import wait_until
from tests.support.objects.rendered_objects import objects_of
from tests.support.workloads.accounting_pods import PASSWORD, DatabasePod
from tests.support.workloads.slurm_clusters import slurm_input
from tests.support.workloads.slurm_programs import Slurmdbd

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

BACKUP = {"schedule": "0 2 * * *", "endpoint": "https://objects.example", "bucket": "dumps", "secret": "dumps"}
SERVER = {"storage_class": "shared-nfs", "size": "20Gi", "memory": LEAST_MEMORY}


@pytest.fixture(scope="module")
def objects() -> tuple[Manifest, ...]:
    accounting = {"server": {**SERVER, "backup": BACKUP}, "password_secret": "database"}
    return tuple(objects_of(slurm_input(load_environment("laptop", ENVIRONMENTS), accounting=accounting)))


@pytest.fixture
def pod(objects: tuple[Manifest, ...], short_folder: Path) -> Iterator[DatabasePod]:
    pod = DatabasePod(objects, short_folder / "pod")
    try:
        yield pod
    finally:
        pod.stop()


@pytest.fixture
def database(pod: DatabasePod) -> DatabasePod:
    done = pod.prepare()
    assert done.returncode == 0, done.stderr
    pod.start()
    return pod


def storage(objects: tuple[Manifest, ...]) -> dict[str, Any]:
    [accounting] = [item for item in objects if item.kind == "Accounting"]
    found: dict[str, Any] = accounting.body["spec"]["storageConfig"]
    return found


def test_slurmdbd_creates_its_tables_and_accepts_the_settings(
    database: DatabasePod, objects: tuple[Manifest, ...], short_folder: Path
) -> None:
    slurmdbd = Slurmdbd(storage(objects), database.port, PASSWORD, short_folder / "slurm")
    try:
        slurmdbd.start_all()
        added = slurmdbd.sacctmgr("add", "cluster", "acme-train")
        assert added.returncode == 0, added.stdout + added.stderr
        assert slurmdbd.sacctmgr("list", "cluster", "format=cluster").stdout.split() == ["acme-train"]
        assert "Accounting storage MYSQL plugin loaded" in slurmdbd.log("slurmdbd")
        assert "not recommended values" not in slurmdbd.log("slurmdbd")
        assert "acme-train_job_table" in database.query("SHOW TABLES IN slurm_acct_db").stdout.split()

        database.kill()
        assert database.prepare().returncode == 0
        database.start()
        wait_until(slurmdbd.answers, timeout_seconds=60, what="slurmdbd connects again")
        assert slurmdbd.sacctmgr("list", "cluster", "format=cluster").stdout.split() == ["acme-train"]
    finally:
        slurmdbd.stop()


def test_the_server_has_the_settings_of_the_memory(database: DatabasePod) -> None:
    wanted = {
        "innodb_buffer_pool_size": str(1 << 30),
        "innodb_log_file_size": str(1 << 28),
        "innodb_lock_wait_timeout": "900",
        "innodb_snapshot_isolation": "OFF",
        "max_allowed_packet": str(1 << 28),
    }
    rows = database.administer("SHOW GLOBAL VARIABLES")

    found = dict(line.split("\t", 1) for line in rows.splitlines())
    assert {name: found[name] for name in wanted} == wanted


def test_only_the_user_of_the_accounting_connects_and_only_to_its_database(database: DatabasePod) -> None:
    assert database.query("CREATE TABLE slurm_acct_db.t (a INT) ENGINE=InnoDB").returncode == 0
    for statement in ("SELECT * FROM mysql.global_priv", "CREATE DATABASE slurmxacctxdb", "CREATE USER 'a'@'%'"):
        assert "denied" in database.query(statement).stderr, statement
    for user, password in (("slurm", "wrong"), ("root", ""), ("", ""), ("root", PASSWORD)):
        assert "Access denied" in database.query("SELECT 1", user, password).stderr, user


def test_a_new_password_applies_at_the_next_start_and_tables_stay(database: DatabasePod) -> None:
    database.query("CREATE TABLE slurm_acct_db.t SELECT 7 AS a")
    database.kill()

    assert database.prepare("another\n").returncode == 0
    database.start()

    assert "Access denied" in database.query("SELECT a FROM slurm_acct_db.t").stderr
    assert database.query("SELECT a FROM slurm_acct_db.t", password="another").stdout.split() == ["7"]


def test_a_dump_is_restored_by_the_commands_of_the_page(database: DatabasePod) -> None:
    page = (paths.ROOT / "docs/workloads/slurm.md").read_text()
    dump, restore = re.findall(r"^kubectl .* slurm-database-0 -- (.+?) [<>] slurm\.sql$", page, re.MULTILINE)
    database.query("CREATE TABLE slurm_acct_db.t SELECT 7 AS a")
    saved = database.execute(dump)
    database.query("DROP TABLE slurm_acct_db.t")

    database.execute(restore, saved)

    assert database.query("SELECT a FROM slurm_acct_db.t").stdout.split() == ["7"]


def test_the_job_dumps_the_database_as_the_user_of_the_accounting(database: DatabasePod) -> None:
    database.query("CREATE TABLE slurm_acct_db.t SELECT 7 AS a")
    dump = database.dump()
    database.query("DROP DATABASE slurm_acct_db")

    database.execute("mariadb -S /run/mysqld/mysqld.sock", gzip.decompress(dump.read_bytes()).decode())

    assert database.query("SELECT a FROM slurm_acct_db.t").stdout.split() == ["7"]


def test_a_dump_that_fails_fails_the_job(database: DatabasePod) -> None:
    with pytest.raises(AssertionError, match="Access denied"):
        database.dump("wrong")


def test_an_interrupted_first_start_is_repeated(pod: DatabasePod) -> None:
    (pod.data / "new" / "mysql").mkdir(parents=True)

    assert pod.prepare().returncode == 0
    pod.start()

    assert sorted(path.name for path in pod.data.iterdir()) == ["data"]
    assert pod.query("SELECT 1").stdout.split() == ["1"]


@pytest.mark.parametrize("password", ["", "\n", "two words", "it's", 'a"b', "a#b", "a\\b", "a`b", "a\nb"])
def test_a_password_that_slurmdbd_would_misread_is_rejected_before_the_data_directory_exists(
    pod: DatabasePod, password: str
) -> None:
    done = pod.prepare(password)

    assert done.returncode == 1
    assert done.stderr == (
        "the password must consist of letters, digits and . _ ~ + / = -: slurmdbd.conf has no quotes\n"
    )
    assert not list(pod.data.iterdir())
