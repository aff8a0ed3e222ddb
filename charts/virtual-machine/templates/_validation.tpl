{{- /* Fails with all constraint violations of an order; values.schema.json validates single fields. */}}
{{- define "machine.validate" -}}
{{- $order := .Values -}}
{{- $home := $order.catalog.namespace -}}
{{- $violations := list -}}
{{- if not (or $order.image $order.own_image) -}}
{{- $violations = append $violations "image: is required unless own_image is set; add one of the two" -}}
{{- end -}}
{{- if and $order.image $order.own_image -}}
{{- $violations = append $violations "own_image: cannot be combined with image; remove one of the two" -}}
{{- end -}}
{{- if and $order.own_image (not $order.root) -}}
{{- $violations = append $violations "own_image: requires a persistent root disk; add root" -}}
{{- end -}}
{{- if and $order.own_image (ne 1 (len $order.own_image)) -}}
{{- $violations = append $violations "own_image: must have one source; write exactly one of http, registry, claim or snapshot" -}}
{{- end -}}
{{- if and (not $order.root) (ne .Release.Namespace $home) -}}
{{- $violations = append $violations (printf "root: an ephemeral root disk requires namespace %s; install there, or add root" $home) -}}
{{- end -}}
{{- if and $order.public_ip (ne .Release.Namespace $home) -}}
{{- $violations = append $violations (printf "public_ip: requires namespace %s; install there, or remove it" $home) -}}
{{- end -}}
{{- if not (or (not $order.public_ip) $order.ports $order.udp_ports) -}}
{{- $violations = append $violations "public_ip: needs an open port at the address; add ports: [22]" -}}
{{- end -}}
{{- if and $order.user_data_secret $order.users -}}
{{- $violations = append $violations "user_data_secret: replaces users; add the users to the Secret and remove users, or remove this" -}}
{{- end -}}
{{- $seen := dict -}}
{{- range $order.volumes -}}
{{- if and $order.count (not .scratch) -}}
{{- $violations = append $violations (printf "volumes: '%s' belongs to a fleet, whose volumes are deleted with their VMs; add scratch: true" .name) -}}
{{- end -}}
{{- if and $order.root (eq .name "root") -}}
{{- $violations = append $violations (printf "volumes: '%s' is the name of the root disk; rename it" .name) -}}
{{- end -}}
{{- if hasKey $seen .name -}}
{{- $violations = append $violations (printf "volumes: '%s' is listed twice; rename one" .name) -}}
{{- end -}}
{{- $_ := set $seen .name true -}}
{{- end -}}
{{- if $violations -}}
{{- fail (join "\n" $violations) -}}
{{- end -}}
{{- end }}
