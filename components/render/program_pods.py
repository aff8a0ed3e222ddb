"""Pods that run a program of the library: its modules are in a ConfigMap, and the image is plain Python."""

from collections.abc import Iterable
from importlib import resources
from typing import Any

from components.render.objects import SERVICES_PRIORITY
from components.render.workloads import pod

TOOL = "python"
"""Name of the image in the tools of the version vector. The image must contain Python 3.11 or newer."""
FOLDER = "/program"
"""Folder of the ConfigMap in the container."""
_PACKAGE = "components/programs"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_SERVER = "https://kubernetes.default.svc"


def program_files(modules: Iterable[str]) -> dict[str, str]:
    """Return the source of each of ``modules``, files of the package of programs, as data of a ConfigMap."""
    package = resources.files(_PACKAGE.replace("/", "."))
    return {name: package.joinpath(name).read_text(encoding="utf-8") for name in modules}


def program_job(
    name: str, image: str, modules: tuple[str, ...], *, run_seconds: int, settings: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the Job spec that runs the first of ``modules`` as ServiceAccount ``name``.

    The arguments of the program are the API server, the folder of its credentials, and the paths of ``settings``.

    Args:
        name: name of the ConfigMap and of the ServiceAccount.
        image: container image of Python.
        modules: modules of the program in the ConfigMap.
        run_seconds: seconds after which a run ends.
        settings: further files of the ConfigMap.
    """
    items = [{"key": module, "path": f"{_PACKAGE}/{module}"} for module in modules]
    items += [{"key": file, "path": file} for file in settings]
    container = {
        "name": TOOL,
        "image": image,
        "workingDir": FOLDER,
        "command": ["python3", "-m", f"{_PACKAGE.replace('/', '.')}.{modules[0].removesuffix('.py')}"],
        "args": [_SERVER, _ACCOUNT, *(f"{FOLDER}/{file}" for file in settings)],
        "env": [{"name": "PYTHONDONTWRITEBYTECODE", "value": "1"}],
        "volumeMounts": [{"name": "program", "mountPath": FOLDER, "readOnly": True}],
    }
    volumes = [{"name": "program", "configMap": {"name": name, "items": items}}]
    spec = pod(name, [container], priorityClassName=SERVICES_PRIORITY, volumes=volumes)
    return {"backoffLimit": 0, "activeDeadlineSeconds": run_seconds, "template": {"spec": spec}}
