{{/* The name of all objects. */}}
{{- define "urnd.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 57 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels by which pods are selected: they never change. */}}
{{- define "urnd.selector" -}}
app.kubernetes.io/name: urnd
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "urnd.labels" -}}
{{ include "urnd.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "urnd.secret" -}}
{{- .Values.existingSecret | default (include "urnd.name" .) -}}
{{- end -}}

{{- define "urnd.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* How many pods there are at most, with the one more of an update. */}}
{{- define "urnd.pods" -}}
{{- if .Values.autoscaling.enabled -}}{{ add .Values.autoscaling.maxReplicas 1 }}{{- else -}}{{ add (.Values.replicas | default 1) 1 }}{{- end -}}
{{- end -}}

{{/* The URL of a registry (url) with the part of a pod of all connections: one of them is for notices. */}}
{{- define "urnd.pooled" -}}
{{- if contains "pool_max_conns=" .url -}}
{{ .url }}
{{- else -}}
{{ .url }}{{ ternary "&" "?" (contains "?" .url) }}pool_max_conns={{ sub (div .root.Values.registry.connections (include "urnd.pods" .root | int)) 1 }}
{{- end -}}
{{- end -}}

{{/* The configuration: that of the values, and what the chart knows. */}}
{{- define "urnd.config" -}}
{{- $secrets := "/run/secrets/urnd/" -}}
{{- $config := deepCopy .Values.config -}}
{{- $listen := dict "service" (list ":8141") "admin" ":8142" -}}
{{- $config = mergeOverwrite $config (dict "listen" $listen "access" (dict "admin_token" (print $secrets "admin-token")) "cache" (dict "directory" "/var/lib/urnd")) -}}
{{- with .Values.registry -}}
{{- if .store -}}
{{- $registry := dict "store" (include "urnd.pooled" (dict "root" $ "url" .store)) -}}
{{- with .replica }}{{- $_ := set $registry "replica" (include "urnd.pooled" (dict "root" $ "url" .)) -}}{{- end -}}
{{- with .passwordKey }}{{- $_ := set $registry "password" (print $secrets .) -}}{{- end -}}
{{- $config = mergeOverwrite $config (dict "registry" $registry) -}}
{{- end -}}
{{- end -}}
{{- with .Values.sharedCache -}}
{{- if .url -}}
{{- $cache := dict "shared" .url "shared_key" (print $secrets .sealKey) -}}
{{- with .passwordKey }}{{- $_ := set $cache "shared_password" (print $secrets .) -}}{{- end -}}
{{- $config = mergeOverwrite $config (dict "cache" $cache) -}}
{{- end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}
