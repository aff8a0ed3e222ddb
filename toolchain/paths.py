"""Where things lie on this machine. Standard library only; nothing is made here.

``JACQUARD_CACHE`` holds what all clones share (binaries keyed by content) and, under ``clones/``, one home for each
clone (Pulumi home and state, kubeconfigs, clusters, logs). ``JACQUARD_HOME`` puts this clone's home elsewhere, and
``JACQUARD_ENVIRONMENTS`` reads the data of environments from another folder; both serve tests and rehearsals.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The working tree."""
VENV = ROOT / ".venv"


def cache() -> Path:
    """Return the cache that all clones of a user share."""
    chosen = os.environ.get("JACQUARD_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "jacquard"


def home() -> Path:
    """Return the folder of everything this clone runs."""
    chosen = os.environ.get("JACQUARD_HOME")
    if chosen:
        return Path(chosen).expanduser().resolve()
    digest = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    return cache() / "clones" / f"{ROOT.name}-{digest}"


def environments() -> Path:
    """Return the folder that holds the data of all environments."""
    chosen = os.environ.get("JACQUARD_ENVIRONMENTS")
    return Path(chosen).expanduser().resolve() if chosen else ROOT / "environments"


def pulumi_bin() -> Path:
    """Return the folder with the ``pulumi`` command of this clone and what must lie beside it."""
    return home() / "pulumi" / "bin"


def pulumi_home() -> Path:
    """Return PULUMI_HOME of this clone (never the user's)."""
    return home() / "pulumi" / "home"


def pulumi_state() -> Path:
    """Return the folder of the file backend that rehearsal environments use."""
    return home() / "pulumi" / "state"


def region(environment: str) -> Path:
    """Return the folder of the local region of a rehearsal environment."""
    return home() / "regions" / environment


def kubeconfigs(environment: str) -> Path:
    """Return the folder of stable kubeconfig paths: ``management.yaml`` and ``<cluster>.yaml``."""
    return region(environment) / "kubeconfigs"


def kubeconfig(environment: str, cluster: str) -> Path:
    """Return the stable kubeconfig path of one cluster of an environment."""
    return kubeconfigs(environment) / f"{cluster}.yaml"


def logs(environment: str) -> Path:
    """Return the folder of the local region's logs."""
    return region(environment) / "logs"
