{{- /* VirtualMachineSpec of an order. */}}
{{- define "machine.spec" -}}
{{- $order := .Values -}}
{{- $catalog := $order.catalog -}}
{{- $size := include "machine.size" $order | fromJson -}}
runStrategy: {{ $order.run_strategy }}
instancetype: {kind: VirtualMachineClusterInstancetype, name: {{ $size.instancetype | quote }}}
preference: {kind: VirtualMachineClusterPreference, name: {{ $catalog.preference | quote }}}
{{- $templates := include "machine.volume-templates" $order }}
{{- with $templates }}
dataVolumeTemplates:
{{- . }}
{{- end }}
template:
  metadata:
    labels: {{- include "machine.labels" $order | nindent 6 }}
  spec:
    {{- if not $order.count }}
    hostname: {{ $order.name | quote }}
    {{- end }}
    {{- with $order.pool }}
    nodeSelector: {node-restriction.kubernetes.io/pool: {{ . | quote }}}
    {{- end }}
    {{- with $catalog.tolerations }}
    tolerations: {{ toJson . }}
    {{- end }}
    {{- with $size.eviction }}
    evictionStrategy: {{ . | quote }}
    {{- end }}
    terminationGracePeriodSeconds: 180
    {{- with $order.keys_secret }}
    accessCredentials:
      - sshPublicKey: {source: {secret: {secretName: {{ . | quote }}}}, propagationMethod: {noCloud: {}}}
    {{- end }}
    domain:
      devices:
        disks:
          - {name: root, disk: {bus: virtio}, bootOrder: 1}
          - {name: cloudinit, disk: {bus: virtio}}
          {{- range $order.volumes }}
          - {name: data-{{ .name }}, disk: {bus: virtio}, serial: {{ .name | quote }}}
          {{- end }}
        interfaces: [{name: default, masquerade: {}}]
      {{- if not $order.root }}
      resources: {requests: {ephemeral-storage: {{ $size.root_disk }}}}
      {{- end }}
    networks: [{name: default, pod: {}}]
    volumes:
      - name: root
        {{- if $order.root }}
        dataVolume: {name: {{ $order.name }}-root}
        {{- else }}
        ephemeral: {persistentVolumeClaim: {claimName: {{ include "machine.golden" $order | quote }}, readOnly: true}}
        {{- end }}
      - name: cloudinit
        cloudInitNoCloud:
          {{- with $order.user_data_secret }}
          secretRef: {name: {{ . | quote }}}
          {{- else }}
          {{- $data := include "machine.user-data" $order }}
          {{- if gt (len $data) 2048 }}
          {{- fail (printf "user_data_secret: users and mounts need %d bytes of user data, but KubeVirt accepts 2048 inline; store user data in a Secret and name it here" (len $data)) }}
          {{- end }}
          userData: {{ $data | quote }}
          {{- end }}
      {{- range $order.volumes }}
      - {name: data-{{ .name }}, dataVolume: {name: {{ $order.name }}-{{ .name }}}}
      {{- end }}
{{- end }}

{{- /* Volumes that KubeVirt creates and deletes with the VM. */}}
{{- define "machine.volume-templates" -}}
{{- $order := . -}}
{{- with .root }}
- metadata: {name: {{ $order.name }}-root}
  spec:
    {{- include "machine.root-source" $order | nindent 4 }}
    {{- include "machine.storage" (dict "catalog" $order.catalog "field" "root" "of" .) | nindent 4 }}
{{- end }}
{{- range .volumes }}
{{- if .scratch }}
- metadata: {name: {{ $order.name }}-{{ .name }}}
  spec: {{- include "machine.blank" (dict "catalog" $order.catalog "field" .name "of" .) | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}
