"""Where things lie on this machine. Standard library only; nothing is made here.

A project is a folder with ``Pulumi.yaml`` and ``environments/``: the clone that this code lies in, or a repository of
regions that has Jacquard installed. ``JACQUARD_CACHE`` holds what all projects share (binaries keyed by content) and,
under ``clones/``, one home for each project (Pulumi home and state, kubeconfigs, clusters, logs). ``JACQUARD_HOME``
puts this project's home elsewhere, and ``JACQUARD_ENVIRONMENTS`` names the data of environments wherever they are.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from jacquard.machine.errors import SettingError

ROOT = Path(__file__).resolve().parents[2]
"""Where the code lies: the working tree of a clone, or the packages of a virtual environment."""
PROJECT_FILE = "Pulumi.yaml"
DATA = "environments"
"""Folder of a project with the data of its environments."""
GIVEN = "given.json"
"""List in the folder of a local region of what its platform gives."""
GOLDEN_IMAGES = "golden-images.json"
"""File in the folder of a local region with what golden images hold that no object tells."""
IS_CLONE = (ROOT / PROJECT_FILE).is_file()
"""Whether the code lies in a clone, where set-up makes ``.venv``, and not installed in one that is there."""
VENV = ROOT / ".venv" if IS_CLONE else Path(sys.prefix)
"""The virtual environment whose Python runs this code, or is going to."""


def project() -> Path:
    """Return the project that is worked on.

    It is the one whose data ``JACQUARD_ENVIRONMENTS`` names, else the one around the current folder, else the clone.

    Raises:
        SettingError: there is none; the code is installed somewhere and the current folder is in no project.
    """
    found = _around_data() or _around_here()
    if found:
        return found
    if IS_CLONE:
        return ROOT
    chosen = os.environ.get("JACQUARD_ENVIRONMENTS")
    where = f"beside {chosen}, which JACQUARD_ENVIRONMENTS names" if chosen else f"in {_here() or '.'} or above it"
    message = (
        f"{PROJECT_FILE}: there is none with a folder {DATA}/ {where}; go to the repository of your regions, or make "
        "one: jacquard new REGION --repository DIR"
    )
    raise SettingError(message)


def set_up() -> str:
    """Return the command that makes what a project needs: in a clone it may have to make ``.venv`` first."""
    return "make setup" if IS_CLONE else "jacquard setup"


def own() -> Path | None:
    """Return the repository of regions that is worked on; None in a clone of Jacquard, and where there is none."""
    try:
        found = project()
    except SettingError:
        return None
    return None if found == ROOT else found


def _around_data() -> Path | None:
    chosen = os.environ.get("JACQUARD_ENVIRONMENTS")
    folder = Path(chosen).expanduser().resolve().parent if chosen else None
    return folder if folder and (folder / PROJECT_FILE).is_file() and not _holds_jacquard(folder) else None


def _around_here() -> Path | None:
    here = _here()
    for folder in (here, *here.parents) if here else ():
        if (folder / PROJECT_FILE).is_file() and (folder / DATA).is_dir():
            return None if _holds_jacquard(folder) else folder
    return None


def _here() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def _holds_jacquard(folder: Path) -> bool:
    """Tell whether ``folder`` is a clone; from there, too, the command of another one works on its own data."""
    return (folder / "jacquard" / "machine" / Path(__file__).name).is_file()


def cache() -> Path:
    """Return the cache that all projects of a user share."""
    chosen = os.environ.get("JACQUARD_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "jacquard"


def home() -> Path:
    """Return the folder of everything this project runs.

    Raises:
        SettingError: there is no project.
    """
    chosen = os.environ.get("JACQUARD_HOME")
    if chosen:
        return Path(chosen).expanduser().resolve()
    folder = project()
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:8]
    return cache() / "clones" / f"{folder.name}-{digest}"


def environments() -> Path:
    """Return the folder that holds the data of all environments.

    Raises:
        SettingError: there is no project, and no variable names the folder.
    """
    chosen = os.environ.get("JACQUARD_ENVIRONMENTS")
    return Path(chosen).expanduser().resolve() if chosen else project() / DATA


def pulumi_bin() -> Path:
    """Return the folder with the ``pulumi`` command of this project and what must lie beside it."""
    return home() / "pulumi" / "bin"


def pulumi_home() -> Path:
    """Return PULUMI_HOME of this project (never the user's)."""
    return home() / "pulumi" / "home"


def pulumi_state() -> Path:
    """Return the folder of the file backend that rehearsal environments use."""
    return home() / "pulumi" / "state"


def region(environment: str) -> Path:
    """Return the folder of the local region of a rehearsal environment."""
    return home() / "regions" / environment


def given(environment: str) -> Path:
    """Return the list of what the platform of a rehearsal gives, which the region's simulated parts read."""
    return region(environment) / GIVEN


def golden_images(environment: str) -> Path:
    """Return the file with what the golden images of a rehearsal hold, which the region's simulated nodes read."""
    return region(environment) / GOLDEN_IMAGES


def kubeconfigs(environment: str) -> Path:
    """Return the folder of stable kubeconfig paths: ``management.yaml`` and ``<cluster>.yaml``."""
    return region(environment) / "kubeconfigs"


def kubeconfig(environment: str, cluster: str) -> Path:
    """Return the stable kubeconfig path of one cluster of an environment."""
    return kubeconfigs(environment) / f"{cluster}.yaml"


def logs(environment: str) -> Path:
    """Return the folder of the local region's logs."""
    return region(environment) / "logs"
