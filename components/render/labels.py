"""Label keys that Jacquard puts on objects. Nothing that simulates hardware may read them."""

from __future__ import annotations

DOMAIN = "jacquard.dev"
TENANT = f"{DOMAIN}/tenant"
CLUSTER = f"{DOMAIN}/cluster"
POOL = f"{DOMAIN}/pool"
GROUP = f"{DOMAIN}/rollout-group"
FAILURE_DOMAIN = f"{DOMAIN}/failure-domain"
INSTANCE_TYPE = f"{DOMAIN}/instance-type"
IMAGE = f"{DOMAIN}/image"
HALL = f"{DOMAIN}/hall"
RACK = f"{DOMAIN}/rack"
LEAF = f"{DOMAIN}/leaf"
