{{/* What values.schema.json cannot say, since it compares values: each is refused with what to write. */}}
{{- define "urnd.check" -}}
{{- $values := .Values -}}
{{- with .Values.autoscaling -}}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) -}}
{{- fail (printf "autoscaling.minReplicas: %d is more than autoscaling.maxReplicas, %d" (int .minReplicas) (int .maxReplicas)) -}}
{{- end -}}
{{- end -}}

{{- /* The defaults of urnd, where the values have none. */ -}}
{{- $limits := dict "notice_time" "0s" "drain_time" "1s" "shutdown_timeout" "10s" | merge (deepCopy (get $values.config "limits" | default dict)) -}}
{{- $stop := 0.0 -}}
{{- range $name := list "notice_time" "drain_time" "shutdown_timeout" -}}
{{- $stop = addf $stop (include "urnd.seconds" (dict "name" $name "text" (get $limits $name)) | float64) -}}
{{- end -}}
{{- if le (float64 $values.terminationGracePeriodSeconds) $stop -}}
{{- fail (printf "terminationGracePeriodSeconds: %d is not more than config.limits.notice_time, drain_time and shutdown_timeout together, %vs" (int $values.terminationGracePeriodSeconds) $stop) -}}
{{- end -}}

{{- with dig "limits" "memory" "" $values.resources -}}
{{- $cache := dict "answers" "64MiB" "records" "16MiB" "responses" "128MiB" | merge (deepCopy (get $values.config "cache" | default dict)) -}}
{{- $held := 33554432.0 -}}
{{- range $name, $factor := dict "answers" 1.0 "records" 1.0 "responses" 1.25 -}}
{{- $held = addf $held (mulf $factor (include "urnd.bytes" (dict "name" (print "config.cache." $name) "text" (get $cache $name)) | float64)) -}}
{{- end -}}
{{- $usable := mulf 0.9 (include "urnd.bytes" (dict "name" "resources.limits.memory" "text" .) | float64) -}}
{{- if lt $usable $held -}}
{{- fail (printf "resources.limits.memory: nine tenths of %v are less than the caches need (config.cache.answers, records and responses): %.0f MiB" . (divf $held 1048576)) -}}
{{- end -}}
{{- end -}}

{{- with $values.registry -}}
{{- if and .store (not (contains "pool_max_conns=" .store)) (lt (div .connections (include "urnd.pods" $ | int)) 3) -}}
{{- fail (printf "registry.connections: %d are too few for %s pods, which need 3 each" (int .connections) (include "urnd.pods" $)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A duration of urnd (text), such as 1m30s, in seconds. */}}
{{- define "urnd.seconds" -}}
{{- $text := toString .text -}}
{{- if not (regexMatch "^([0-9]+([.][0-9]+)?(ms|s|m|h))+$|^0$" $text) -}}
{{- fail (printf "config.limits.%s: %s is not a duration such as 15s" .name $text) -}}
{{- end -}}
{{- $units := dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 -}}
{{- $seconds := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ms|s|m|h)" $text -1 -}}
{{- $unit := regexFind "[a-z]+" . -}}
{{- $seconds = addf $seconds (mulf (trimSuffix $unit . | float64) (get $units $unit)) -}}
{{- end -}}
{{- $seconds -}}
{{- end -}}

{{/* A size of urnd, such as 64MiB, or a quantity of Kubernetes, such as 1536Mi (text), in bytes. */}}
{{- define "urnd.bytes" -}}
{{- $text := trimSuffix "B" (toString .text) | trimSuffix "b" | nospace -}}
{{- if not (regexMatch "^[0-9]+([.][0-9]+)?([KMGTPEkmgtpe]i?)?$" $text) -}}
{{- fail (printf "%s: %v is not a size such as 64MiB" .name .text) -}}
{{- end -}}
{{- $unit := regexFind "[KMGTPEkmgtpe]i?$" $text -}}
{{- $units := dict "" 1.0 "K" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 -}}
{{- mulf (trimSuffix $unit $text | float64) (get $units (title $unit)) -}}
{{- end -}}
