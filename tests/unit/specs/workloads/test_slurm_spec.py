"""Contradictions within the data of a Slurm cluster: names, defaults and duplicate entries."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from components.specs.reading.strict_yaml import StrictYamlReader
from components.specs.workloads.slurm import SlurmSpec
from tests.support.workloads.slurm_clusters import SPEC

MAIN = {"name": "main", "pools": ["a"]}
BACKUP = {"schedule": "0 2 * * *", "endpoint": "https://objects.example", "bucket": "dumps", "secret": "dumps"}
SERVER = {"storage_class": "shared", "size": "20Gi"}
SCRIPT = {"name": "clean", "script": "#!/bin/sh\nexit 0\n"}
DUMPS = ("accounting", "server", "backup")
VOLUME = {"name": "home", "path": "/home", "storage_class": "shared", "size": "1Ti"}


def dumped(backup: dict[str, Any]) -> dict[str, Any]:
    """Return a Slurm cluster with other data of its backup."""
    return {"accounting": {"server": {**SERVER, "backup": {**BACKUP, **backup}}, "password_secret": "database"}}


@pytest.mark.parametrize(
    ("spec", "place", "text"),
    [
        (
            {"partitions": [{**MAIN, "name": "default"}]},
            ("partitions", 0, "name"),
            "is a keyword of Slurm's configuration; write another name",
        ),
        (
            {"partitions": [{**MAIN, "pools": ["a", "a"]}]},
            ("partitions", 0, "pools", 1),
            "is listed twice; remove it",
        ),
        (
            {"partitions": [{**MAIN, "default": True}, {**MAIN, "name": "more", "default": True}]},
            ("partitions", 1, "default"),
            "main is already the default, and there can be only one; remove it",
        ),
        (
            {"partitions": [MAIN, MAIN]},
            ("partitions", 1, "name"),
            "partitions[0] has the same name; write another one",
        ),
        (
            {"volumes": [VOLUME, {**VOLUME, "name": "more"}]},
            ("volumes", 1, "path"),
            "volumes[0] has the same path; write another one",
        ),
        (
            {"prolog": [SCRIPT, SCRIPT]},
            ("prolog", 1, "name"),
            "prolog[0] has the same name; write another one",
        ),
        (
            {"epilog": [{"name": "clean", "script": "rm -rf /tmp/scratch"}]},
            ("epilog", 0, "script"),
            "has no interpreter in its first line, so slurmd cannot execute it; begin with #!/bin/sh",
        ),
        (
            {"epilog": [{"name": "clean", "script": "#!/bin/sh rm -rf /tmp/scratch\n"}]},
            ("epilog", 0, "script"),
            "has no command after its first line; write script: | and each command on a line of its own",
        ),
        (
            {"keys_secret": "users", "login": {"users_secret": "users"}},
            ("login", "users_secret"),
            "is also keys_secret, and each is a Secret of its own; write another name",
        ),
        (
            dumped({"secret": "database"}),
            (*DUMPS, "secret"),
            "is also accounting.password_secret, and each is a Secret of its own; write another name",
        ),
        (
            dumped({"secret": None}),
            (*DUMPS, "secret"),
            "is required with endpoint; write secret: slurm-backup, or remove endpoint for a bucket of buckets",
        ),
        (
            dumped({"endpoint": None}),
            (*DUMPS, "secret"),
            "has no effect on a bucket of buckets, which has its own keys; remove it, or write endpoint",
        ),
        (
            {"login": {"users_secret": "users", "sources": ["192.0.2.0/24", "203.0.113.0/24", "192.0.2.0/24"]}},
            ("login", "sources", 2),
            "is listed twice; remove it",
        ),
        (
            {"login": {"users_secret": "users", "sources": ["192.0.2.64/26", "192.0.2.0/24"]}},
            ("login", "sources", 0),
            "is in 192.0.2.0/24, which is listed too; remove one of them",
        ),
        (
            {"login": {"users_secret": "users", "sources": ["192.0.2.0/24", "0.0.0.0/0", "203.0.113.0/24"]}},
            ("login", "sources", 1),
            "contains 2 other sources, which have no effect; remove them, or remove it",
        ),
        (
            {"accounting": {"endpoint": "mysql.example:3306", "server": SERVER, "password_secret": "database"}},
            ("accounting", "server"),
            "cannot be combined with endpoint; remove one of the two",
        ),
        (
            {"accounting": {"password_secret": "database"}},
            ("accounting",),
            "has neither endpoint nor server; write one of the two",
        ),
        (
            {"accounting": {"server": SERVER, "database": "mysql", "password_secret": "database"}},
            ("accounting", "database"),
            "is a database of the server itself; write another name",
        ),
        (
            {"accounting": {"server": {**SERVER, "memory": "2047Mi"}, "password_secret": "database"}},
            ("accounting", "server", "memory"),
            "leaves a cache of tables below the recommendation of Slurm; write at least 2Gi",
        ),
        (
            {"accounting": {"server": {**SERVER, "memory": "32Gi"}, "password_secret": "database"}},
            ("accounting", "server", "size"),
            "is less than memory, of which the redo log takes an eighth; write at least 32Gi",
        ),
        (
            {"volumes": [{**VOLUME, "name": "ssh-config"}]},
            ("volumes", 0, "name"),
            "is the name of another volume of the pods; write another name",
        ),
        (
            {"volumes": [{**VOLUME, "path": "/etc/slurm"}]},
            ("volumes", 0, "path"),
            "hides files of the daemons in /etc; write a path outside it, such as /home",
        ),
    ],
)
def test_a_contradiction_is_reported_at_its_place(
    spec: dict[str, Any], place: tuple[str | int, ...], text: str
) -> None:
    with pytest.raises(ValidationError) as raised:
        SlurmSpec.model_validate({**SPEC, **spec})

    [error] = raised.value.errors()
    assert (error["loc"], error["msg"]) == (place, text)


def test_pools_of_all_partitions_are_listed_once() -> None:
    assert SlurmSpec.model_validate(SPEC).pools == ("train", "infer")


@pytest.mark.parametrize("text", ['script: "#!/bin/sh\\nexit 0\\n"\n', "script: |\n  #!/bin/sh\n  exit 0\n"])
def test_a_script_is_read_from_quotes_and_from_a_block(text: str) -> None:
    assert StrictYamlReader("tenant.yaml").read(text)[0] == {"script": "#!/bin/sh\nexit 0\n"}
