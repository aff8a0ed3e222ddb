"""Paths of the project and its files on this machine. Standard library only; nothing is created here.

A project is a folder with ``Pulumi.yaml`` and ``environments/``: the clone that contains this code, or a repository of
regions with Jacquard installed. ``JACQUARD_CACHE`` contains the data shared by all projects (binaries keyed by content)
and, under ``clones/``, a home for each project (Pulumi home and state, kubeconfigs, clusters, logs). ``JACQUARD_HOME``
overrides this project's home, and ``JACQUARD_ENVIRONMENTS`` overrides the folder of the environments' data.
"""

import hashlib
import os
import sys
from pathlib import Path

from jacquard.machine.errors import SettingError

ROOT = Path(__file__).resolve().parents[2]
"""Folder of the code: the working tree of a clone, or the packages of a virtual environment."""
PROJECT_FILE = "Pulumi.yaml"
DATA = "environments"
"""Folder of a project with the data of all environments."""
GIVEN = "given.json"
"""File in the folder of a local region with the list of its simulated prerequisites."""
GOLDEN_IMAGES = "golden-images.json"
"""File in the folder of a local region with contents of golden images that no object contains."""
IMAGES = "images.json"
"""File in the folder of a local region with the images of registries outside the region, and addresses of hosts."""
HARDWARE = "hardware.json"
"""File in the folder of a local region with its simulated machines, by address of the BMC."""
MONITORING = "monitoring"
"""Folder in the folder of a local region that has monitoring."""
HARDWARE_CHANGES = "hardware-changes.json"
"""Optional file in the folder of a local region with differences of single machines, by address of the BMC."""
IS_CLONE = (ROOT / PROJECT_FILE).is_file()
"""Whether the code is in a clone, where set-up creates ``.venv``, and not installed in an existing environment."""
VENV = ROOT / ".venv" if IS_CLONE else Path(sys.prefix)
"""The current or future virtual environment of this code."""


def project() -> Path:
    """Return the current project.

    This is the project that contains ``JACQUARD_ENVIRONMENTS``, otherwise the project around the current folder,
    otherwise the clone.

    Raises:
        SettingError: there is no project; the code is installed and the current folder is outside any project.
    """
    folder = _around_data() or _around_here()
    if folder:
        return folder
    if IS_CLONE:
        return ROOT
    chosen = os.environ.get("JACQUARD_ENVIRONMENTS")
    where = f"next to {chosen} (JACQUARD_ENVIRONMENTS)" if chosen else f"in {_here() or '.'} or above it"
    message = (
        f"{PROJECT_FILE}: not found with a folder {DATA}/ {where}; change to the repository of your regions, or create "
        "one: jacquard new REGION --repository DIR"
    )
    raise SettingError(message)


def set_up() -> str:
    """Return the set-up command of the project; in a clone it may have to create ``.venv`` first."""
    return "make setup" if IS_CLONE else "jacquard setup"


def set_up_all() -> str:
    """Return the set-up command that also builds the controllers of add-ons."""
    return "make controllers" if IS_CLONE else "jacquard setup --controllers"


def own() -> Path | None:
    """Return the current repository of regions; None in a clone of Jacquard, and without a project."""
    try:
        folder = project()
    except SettingError:
        return None
    return None if folder == ROOT else folder


def _around_data() -> Path | None:
    chosen = os.environ.get("JACQUARD_ENVIRONMENTS")
    folder = Path(chosen).expanduser().resolve().parent if chosen else None
    return folder if folder and (folder / PROJECT_FILE).is_file() and not _is_clone(folder) else None


def _around_here() -> Path | None:
    here = _here()
    for folder in (here, *here.parents) if here else ():
        if (folder / PROJECT_FILE).is_file() and (folder / DATA).is_dir():
            return None if _is_clone(folder) else folder
    return None


def _here() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def _is_clone(folder: Path) -> bool:
    """Return whether ``folder`` is a clone; there, the command of another clone still uses the other clone's data."""
    return (folder / "jacquard" / "machine" / Path(__file__).name).is_file()


def policy_pack() -> str:
    """Return the folder of the policy pack, relative to the project, which is a clone or a user's repository."""
    return "policies" if own() is None else "policy-pack"


def cache() -> Path:
    """Return the cache that all projects of a user share."""
    chosen = os.environ.get("JACQUARD_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "jacquard"


def home() -> Path:
    """Return the folder of the project's runtime files.

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
    """Return the folder with the data of all environments.

    Raises:
        SettingError: there is no project, and the variable is not set.
    """
    chosen = os.environ.get("JACQUARD_ENVIRONMENTS")
    return Path(chosen).expanduser().resolve() if chosen else project() / DATA


def pulumi_bin() -> Path:
    """Return the folder with the project's ``pulumi`` command and the files that must be next to it."""
    return home() / "pulumi" / "bin"


def pulumi_home() -> Path:
    """Return PULUMI_HOME of this project (never the user's)."""
    return home() / "pulumi" / "home"


def pulumi_state() -> Path:
    """Return the folder of the file backend for rehearsal environments."""
    return home() / "pulumi" / "state"


def region(environment: str) -> Path:
    """Return the folder of the local region of a rehearsal environment."""
    return home() / "regions" / environment


def given(environment: str) -> Path:
    """Return the file with a rehearsal's prerequisites, which the region's simulated controllers read."""
    return region(environment) / GIVEN


def golden_images(environment: str) -> Path:
    """Return the file with contents of a rehearsal's golden images, which the region's simulated nodes read."""
    return region(environment) / GOLDEN_IMAGES


def images(environment: str) -> Path:
    """Return the file with the container images that registries outside a rehearsal's region serve."""
    return region(environment) / IMAGES


def hardware(environment: str) -> Path:
    """Return the file with the machines of a rehearsal, which its simulated inspection reads."""
    return region(environment) / HARDWARE


def kubeconfigs(environment: str) -> Path:
    """Return the folder of stable kubeconfig paths: ``management.yaml`` and ``<cluster>.yaml``."""
    return region(environment) / "kubeconfigs"


def kubeconfig(environment: str, cluster: str) -> Path:
    """Return the stable kubeconfig path of a cluster of an environment."""
    return kubeconfigs(environment) / f"{cluster}.yaml"


def logs(environment: str) -> Path:
    """Return the folder of the local region's logs."""
    return region(environment) / "logs"
