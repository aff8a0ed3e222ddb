{{- /* Refuses words that do not fit together, all at once; of one word alone values.schema.json judges. */}}
{{- define "machine.misfits" -}}
{{- $order := .Values -}}
{{- $home := $order.catalog.namespace -}}
{{- $wrong := list -}}
{{- if not (or $order.image $order.own_image) -}}
{{- $wrong = append $wrong "image: is left out, and own_image, too; add one of the two" -}}
{{- end -}}
{{- if and $order.image $order.own_image -}}
{{- $wrong = append $wrong "own_image: is a second image beside image; remove one of the two" -}}
{{- end -}}
{{- if and $order.own_image (not $order.root) -}}
{{- $wrong = append $wrong "own_image: fills a root that is kept; add root" -}}
{{- end -}}
{{- if and $order.own_image (ne 1 (len $order.own_image)) -}}
{{- $wrong = append $wrong "own_image: comes from exactly one place; write http, registry, claim or snapshot" -}}
{{- end -}}
{{- if and (not $order.root) (ne .Release.Namespace $home) -}}
{{- $wrong = append $wrong (printf "root: lies over a volume of namespace %s if it is left out; install there, or add it" $home) -}}
{{- end -}}
{{- if and $order.public_ip (ne .Release.Namespace $home) -}}
{{- $wrong = append $wrong (printf "public_ip: is for namespace %s alone; install there, or remove it" $home) -}}
{{- end -}}
{{- if not (or (not $order.public_ip) $order.ports $order.udp_ports) -}}
{{- $wrong = append $wrong "public_ip: needs a port that is reachable there; add ports: [22]" -}}
{{- end -}}
{{- if and $order.user_data_secret $order.users -}}
{{- $wrong = append $wrong "user_data_secret: is all user data that the VM gets; write users into the Secret and remove users, or remove this" -}}
{{- end -}}
{{- $seen := dict -}}
{{- range $order.volumes -}}
{{- if and $order.count (not .scratch) -}}
{{- $wrong = append $wrong (printf "volumes: '%s' is of a fleet, whose VMs have each their own, which goes with its VM; add scratch: true" .name) -}}
{{- end -}}
{{- if and $order.root (eq .name "root") -}}
{{- $wrong = append $wrong (printf "volumes: '%s' is what the root is called; rename it" .name) -}}
{{- end -}}
{{- if hasKey $seen .name -}}
{{- $wrong = append $wrong (printf "volumes: '%s' stands there twice; rename one" .name) -}}
{{- end -}}
{{- $_ := set $seen .name true -}}
{{- end -}}
{{- if $wrong -}}
{{- fail (join "\n" $wrong) -}}
{{- end -}}
{{- end }}
