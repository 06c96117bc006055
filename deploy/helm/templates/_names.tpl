{{- define "footnote.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "footnote.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "footnote.labels" -}}
{{ include "footnote.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- /* "true" with PostgreSQL: work is then left to workers. */ -}}
{{- define "footnote.isQueued" -}}
{{- if .Values.secrets.FOOTNOTE_DATABASE_URL }}true{{ end -}}
{{- end }}

{{- /* A setting as the environment holds it; numbers come as floating-point ones. */ -}}
{{- define "footnote.value" -}}
{{- if kindIs "map" . -}}
{{- toJson . -}}
{{- else if kindIs "slice" . -}}
{{- if and . (kindIs "map" (first .)) }}{{ toJson . }}{{ else }}{{ join "," . }}{{ end -}}
{{- else if and (kindIs "float64" .) (eq (floor .) .) -}}
{{- printf "%.0f" . -}}
{{- else -}}
{{- toString . -}}
{{- end -}}
{{- end }}
