{{- /* Entry `name` of the catalog's mapping `in`, as JSON; fails with the name of `field` if there is none. */}}
{{- define "machine.known" -}}
{{- $known := index .catalog .in | default dict -}}
{{- if not (hasKey $known .name) -}}
{{- fail (printf "%s: '%s' is not in catalog.%s (known: %s)" .field .name .in (keys $known | sortAlpha | join ", ")) -}}
{{- end -}}
{{- index $known .name | toJson -}}
{{- end }}

{{- define "machine.size" -}}
{{- include "machine.known" (dict "catalog" .catalog "in" "sizes" "field" "size" "name" .size) -}}
{{- end }}

{{- define "machine.labels" -}}
jacquard.dev/vm: {{ .name | quote }}
{{- end }}

{{- /* Storage request of a volume: its size, with the modes of its storage class. */}}
{{- define "machine.storage" -}}
{{- $class := include "machine.known" (dict "catalog" .catalog "in" "storage_classes" "field" .field "name" .of.storage_class) | fromJson -}}
storage:
  storageClassName: {{ .of.storage_class | quote }}
  accessModes: [{{ $class.access_mode }}]
  volumeMode: {{ $class.volume_mode }}
  resources: {requests: {storage: {{ .of.size }}}}
{{- end }}

{{- define "machine.blank" -}}
source: {blank: {}}
{{ include "machine.storage" . }}
{{- end }}

{{- /* Source of a persistent root disk: the DataSource of a catalog image, or the tenant's image. */}}
{{- define "machine.root-source" -}}
{{- with .own_image -}}
source:
  {{- with .http }}
  http: {url: {{ .url | quote }}, checksum: "sha256:{{ .sha256 }}"{{ with .secret }}, secretRef: {{ . | quote }}{{ end }}}
  {{- end }}
  {{- with .registry }}
  registry: {url: "docker://{{ .image }}"{{ with .secret }}, secretRef: {{ . | quote }}{{ end }}}
  {{- end }}
  {{- with .claim }}
  pvc: {{ toJson . }}
  {{- end }}
  {{- with .snapshot }}
  snapshot: {{ toJson . }}
  {{- end }}
{{- else -}}
{{- $_ := include "machine.known" (dict "catalog" .catalog "in" "images" "field" "image" "name" .image) -}}
sourceRef: {kind: DataSource, name: {{ .image | quote }}, namespace: {{ .catalog.namespace }}}
{{- end }}
{{- end }}

{{- /* Golden volume that backs an ephemeral root disk. */}}
{{- define "machine.golden" -}}
{{- $catalog := .catalog -}}
{{- $golden := include "machine.known" (dict "catalog" $catalog "in" "images" "field" "image" "name" .image) | fromJson -}}
{{- $disk := (include "machine.size" . | fromJson).root_disk -}}
{{- required (printf "image: catalog.images.%s has no volume of %s" .image $disk) (index $golden $disk) -}}
{{- end }}

{{- /* cloud-init user data for the first boot, as text, because the order of fields and whitespace are significant. */}}
{{- define "machine.user-data" -}}
#cloud-config
{{ if not .count -}}
hostname: {{ .name }}
{{ end -}}
{{ if or .users .keys_secret -}}
users:
{{ if .keys_secret -}}
- default
{{ end -}}
{{ range .users -}}
- {"name": {{ .name | quote }}, "shell": "/bin/bash", {{ if .sudo }}"sudo": "ALL=(ALL) NOPASSWD:ALL", {{ end }}"ssh_authorized_keys": [{{ range $at, $key := .ssh_keys }}{{ if $at }}, {{ end }}{{ $key | quote }}{{ end }}]}
{{ end -}}
{{ end -}}
{{ if .volumes -}}
mounts:
{{ range .volumes -}}
- ["/dev/disk/by-id/virtio-{{ .name }}", /mnt/{{ .name }}, ext4, "defaults,nofail,x-systemd.makefs"]
{{ end -}}
{{ end -}}
{{- end }}
