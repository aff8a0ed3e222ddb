"""Descriptions of the stand-ins, printed by their option ``--about``."""

LANGUAGE_HOST = """\
jacquard stand-in for pulumi-language-python
supports: running Python programs and policy packs, reporting the plugins that installed packages need
does not support: toolchains poetry and uv, installing packages, debugging, code generation, other plugins in Python
"""

COMMAND = """\
jacquard stand-in for pulumi-resource-command v1.2.1
supports: command:local:Command
does not support: command:local:run, command:remote:*, assetPaths, archivePaths, Windows
"""

KUBERNETES = """\
jacquard stand-in for pulumi-resource-kubernetes v4.34.2
supports: single objects of any kind by server-side apply, with previews, drift, replacement rules and waits
default waits: Namespace, Pod, Deployment, StatefulSet, DaemonSet, Job, Service, Ingress,
PersistentVolumeClaim, CustomResourceDefinition
also supports: *Patch resources, ConfigFile, ConfigGroup, and Directory of kustomize by kubectl, including v2
does not support: client-side apply, renderYamlToDirectory, Helm, *List resources, other functions,
schemas, generateName, replaceUnready, the provider input cluster, PULUMI_K8S_AWAIT_ALL
"""
