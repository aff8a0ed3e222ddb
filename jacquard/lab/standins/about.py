"""What each stand-in is, as it says itself (``--about``, `jacquard doctor`)."""

LANGUAGE_HOST = """\
jacquard stand-in for pulumi-language-python
does: run Python programs and policy packs, report the plugins that installed packages need
does not: toolchains poetry and uv, installing packages, debugging, code generation, plugins of other kinds in Python
"""

COMMAND = """\
jacquard stand-in for pulumi-resource-command v1.2.1
does: command:local:Command
does not: command:local:run, command:remote:*, assetPaths, archivePaths, Windows
"""

KUBERNETES = """\
jacquard stand-in for pulumi-resource-kubernetes v4.34.2
does: single objects of any kind by server-side apply, with previews, drift, replacement rules and waits
waits without an annotation for: Namespace, Pod, Deployment, StatefulSet, DaemonSet, Job, Service, Ingress,
PersistentVolumeClaim, CustomResourceDefinition
does too: *Patch resources, ConfigFile, ConfigGroup, and Directory of kustomize by kubectl; those of v2, too
does not: client-side apply, renderYamlToDirectory, Helm, *List resources, other functions,
schemas, generateName, replaceUnready, the provider input cluster, PULUMI_K8S_AWAIT_ALL
"""
