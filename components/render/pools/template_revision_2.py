"""Node templates, revision 2: registry hosts by upstream, settings of k0s, and any free host for a new node.

The output is frozen, like that of revision 1, on which it is based.

- A cache serves each upstream below its name (`components.render.region.registry`), so each upstream has a hosts file.
- containerd of k0s reads no other configuration than ``/etc/k0s/containerd.d``. A file there sets the directory of the
  hosts files. The format depends on the release of k0s (K0S:docs/runtime.md).
- The default root directory of a k0s kubelet is ``/var/lib/k0s/kubelet``. CSI drivers and KubeVirt register and mount
  volumes below ``/var/lib/kubelet``.
- Metal3 finds the Node of a Machine by the label with the UUID of its host, and reports no provider ID before
  (metal3-io/cluster-api-provider-metal3:baremetal/metal3machine_manager.go, SetProviderIDFromNodeLabel). k0smotron
  needs the provider ID to label the Node, so that a k0s node sets this label itself. cloud-init fills in the UUID
  (K0SM:internal/provisioner/cloudinit.go).
- With ``nodeReuse``, Metal3 labels every host that it releases, also when a pool shrinks. While one labelled host of a
  group is not available, it assigns no host to any Machine of the group, not even an available one
  (metal3-io/cluster-api-provider-metal3:baremetal/metal3machine_manager.go). A spare with new firmware would stop
  repairs. No controller removes the label from a spare. Machines therefore claim any available host of their group;
  without a spare, that is the host of a deleted Machine.
"""

from collections.abc import Iterator

from components.render.manifest import Json
from components.render.objects import given
from components.render.pools import template_revision_1
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.natural import natural
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace

_HOSTS = "/etc/containerd/certs.d"
"""Directory of registry hosts of containerd, by registry."""
_ANY = "_default"
_K0S_FILE = "/etc/k0s/containerd.d/registry-hosts.toml"
_CONTAINERD_2 = "v1.36"
"""First minor version of k0s with containerd 2, which rejects the older format."""
_KUBELET = "--kubelet-root-dir=/var/lib/kubelet"
_UUID = "--labels=metal3.io/uuid={{ ds.meta_data.uuid }}"


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of the templates of a rollout group."""
    templates = template_revision_1.build(replace(intent, mirror=None))
    spec = templates.bootstrap["template"]["spec"]
    by_k0s = intent.control_plane is ControlPlaneBackend.K0SMOTRON
    found_by = [_UUID] if intent.bare_metal is BareMetalBackend.METAL3 else []
    more = {"args": [*spec["args"], *found_by, _KUBELET]} if by_k0s else {}
    files = [*spec.get("files", ()), *_registry_hosts(intent, by_k0s=by_k0s)]
    return replace(
        templates,
        machine={**templates.machine, **({"nodeReuse": False} if "nodeReuse" in templates.machine else {})},
        bootstrap={"template": {"spec": {**spec, **more, **given(files=files)}}},
    )


def _registry_hosts(intent: TemplateIntent, *, by_k0s: bool) -> Iterator[Json]:
    """Yield the files with which containerd resolves tags and pulls content through the mirror.

    If the mirror does not respond, containerd pulls directly from the registry.
    """
    if intent.mirror is None:
        return
    if by_k0s:
        yield _file(_K0S_FILE, _k0s_settings(intent.kubelet))
    if not intent.upstreams:
        yield _file(f"{_HOSTS}/{_ANY}/hosts.toml", _host(f"https://{intent.mirror}"))
    for upstream in intent.upstreams:
        # The path replaces the usual root of the API, which is /v2 (containerd/containerd:docs/hosts.md).
        host = _host(f"https://{intent.mirror}/v2/{upstream}") + "  override_path = true\n"
        yield _file(f"{_HOSTS}/{upstream}/hosts.toml", host)


def _host(url: str) -> str:
    return f'[host."{url}"]\n  capabilities = ["pull", "resolve"]\n'


def _k0s_settings(kubelet: str) -> str:
    with_containerd_2 = natural(kubelet) >= natural(_CONTAINERD_2)
    version, plugin = (3, "io.containerd.cri.v1.images") if with_containerd_2 else (2, "io.containerd.grpc.v1.cri")
    return f'version = {version}\n\n[plugins."{plugin}".registry]\n  config_path = "{_HOSTS}"\n'


def _file(path: str, content: str) -> Json:
    return {"path": path, "permissions": "0644", "content": content}
