"""A stand-in for SeaweedFS's operator, at a real API server and a real store.

The operator's Go module is not available to the build, so this executes the shell commands of its reconcilers
(seaweedfs/seaweedfs-operator 0.1.39, ``internal/controller``) in their order and on their conditions. It does not prove
that the operator itself runs, nor its grants between namespaces, its finalizers, or its repair of drift.
"""

from __future__ import annotations

import secrets
from base64 import b64decode, b64encode
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from components.render.storage.seaweedfs import API
from jacquard.providers.kube import ApiServer, ObjectRef
from tests.support.storage.s3_requests import KeyPair
from tests.support.storage.seaweed_store import ADMINISTRATOR, SeaweedStore

_MIB = 1 << 20
_UNITS = {"Mi": _MIB, "Gi": _MIB << 10, "Ti": _MIB << 20}
_ACTIONS = {
    "expiration": ("Expiration", "days", "Days"),
    "noncurrentVersionExpiration": ("NoncurrentVersionExpiration", "noncurrentDays", "NoncurrentDays"),
    "abortIncompleteMultipartUpload": ("AbortIncompleteMultipartUpload", "daysAfterInitiation", "DaysAfterInitiation"),
}
_OK = 200
Place = tuple[str, str]
"""Namespace and name of an object."""


class SeaweedOperator:
    """Stand-in; `reconcile` updates the store from the objects of the API server."""

    def __init__(self, api: ApiServer, store: SeaweedStore) -> None:
        self._api, self._store = api, store
        self._buckets: dict[Place, str] = {}
        """Buckets that objects created (``status.bucketName``)."""
        self._users: dict[Place, str] = {}
        self._keys: dict[Place, tuple[str, str, str]] = {}
        """User, access key and Secret of S3Credentials (``status``)."""
        self.refused: set[Place] = set()
        """Buckets with condition BucketAlreadyExists."""

    def reconcile(self) -> None:
        """Delete resources without an object, then reconcile all objects."""
        wanted = {kind: self._all(kind) for kind in ("S3Credentials", "S3Identity", "Bucket", "BucketLifecyclePolicy")}
        for place in self._keys.keys() - wanted["S3Credentials"].keys():
            user, key, name = self._keys.pop(place)
            self._store.shell(f"s3.accesskey.delete -user {user} -access_key {key}")
            self._api.delete(ObjectRef("v1", "Secret", name, place[0]))
        for place in self._users.keys() - wanted["S3Identity"].keys():
            self._store.shell(f"s3.user.delete -name {self._users.pop(place)}")
        for place in self._buckets.keys() - wanted["Bucket"].keys():
            del self._buckets[place]  # reclaimPolicy Retain
        self.refused.clear()
        for place, spec in wanted["Bucket"].items():
            self._bucket(place, spec)
        for place, spec in wanted["BucketLifecyclePolicy"].items():
            self._life_cycle(place, spec)
        for place, spec in wanted["S3Identity"].items():
            self._identity(place, spec["name"])
        for place, spec in wanted["S3Credentials"].items():
            self._credentials(place, spec)

    def _all(self, kind: str) -> dict[Place, dict[str, Any]]:
        found = self._api.list(API, kind)
        return {(one["metadata"]["namespace"], one["metadata"]["name"]): one["spec"] for one in found}

    def _bucket(self, place: Place, spec: dict[str, Any]) -> None:
        """Create the bucket and grant rights, unless it exists and was created otherwise."""
        name = spec["name"]
        exists = "error:" not in self._store.run(f"s3.bucket.versioning -name {name}")
        if exists and place not in self._buckets and not spec["adoptExisting"]:
            self.refused.add(place)
            return
        if not exists:
            self._store.shell(f"s3.bucket.create -name {name}")
        self._buckets[place] = name
        if spec["versioning"] != "Off":
            self._store.shell(f"s3.bucket.versioning -name {name} -status {spec['versioning']}")
        size = spec["quota"]["size"]
        mebibytes = int(size[:-2]) * _UNITS[size[-2:]] // _MIB
        self._store.shell(f"s3.bucket.quota -name {name} -op set -sizeMB {mebibytes}")
        self._store.shell(f"s3.bucket.quota -name {name} -op enable")
        for grant in spec.get("access", ()):
            actions = ",".join(sorted(grant["actions"]))
            self._store.shell(f"s3.bucket.access -name {name} -user {grant['user']} -access {actions}")

    def _life_cycle(self, place: Place, spec: dict[str, Any]) -> None:
        """Store the rules; the operator writes the same XML into the entry of the bucket."""
        name = self._buckets.get((place[0], spec["bucketRef"]["name"]))
        if name is None:
            return
        configuration = Element("LifecycleConfiguration")
        for rule in spec["rules"]:
            element = SubElement(configuration, "Rule")
            for tag, text in (("ID", rule["id"]), ("Status", rule["status"]), ("Prefix", "")):
                SubElement(element, tag).text = text
            for field, (tag, key, inner) in _ACTIONS.items():
                if field in rule:
                    SubElement(SubElement(element, tag), inner).text = str(rule[field][key])
        answer = self._store.send(ADMINISTRATOR, "PUT", f"/{name}", query="lifecycle=", body=tostring(configuration))
        assert answer.status == _OK, answer

    def _identity(self, place: Place, user: str) -> None:
        """Create a user without keys and rights, unless the grant of a bucket created it."""
        if "error:" in self._store.run(f"s3.user.show -name {user}"):
            pair = KeyPair(secrets.token_hex(10), secrets.token_hex(20))  # The shell creates no user without keys.
            self._store.shell(f"s3.user.create -name {user} -access_key {pair.access} -secret_key {pair.secret}")
            self._store.shell(f"s3.accesskey.delete -user {user} -access_key {pair.access}")
        self._users[place] = user

    def _credentials(self, place: Place, spec: dict[str, Any]) -> None:
        """Register the key pair of the Secret, or generate one, and revoke the previous one."""
        namespace, reference = place[0], spec["secretRef"]
        user = self._users[namespace, spec["identityRef"]["name"]]
        fields, name = (reference["accessKeyField"], reference["secretKeyField"]), reference["name"]
        secret = self._api.get(ObjectRef("v1", "Secret", name, namespace))
        if secret is None:
            pair = KeyPair(secrets.token_hex(10), secrets.token_hex(20))
            values = zip(fields, (pair.access, pair.secret), strict=True)
            data = {field: b64encode(value.encode()).decode() for field, value in values}
            metadata = {"name": name, "namespace": namespace}
            body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
            self._api.create(body, field_manager="operator")
        else:
            pair = KeyPair(*(b64decode(secret["data"][field]).decode() for field in fields))
        previous = self._keys.get(place)
        if previous is None or previous[1] != pair.access:
            keys = f"-access_key {pair.access} -secret_key {pair.secret}"
            self._store.shell(f"s3.accesskey.create -user {user} {keys}")
        if previous and previous[1] != pair.access:
            self._store.shell(f"s3.accesskey.delete -user {user} -access_key {previous[1]}")
        self._keys[place] = (user, pair.access, name)
