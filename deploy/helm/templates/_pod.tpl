{{- /*
The pod of one component. Given: root (the chart's context), component, args, port (0: none), data
(the volume of the data folder; it lives as long as the pod where this is empty).
*/ -}}
{{- define "footnote.pod" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $settings := dict "FOOTNOTE_DATA_DIR" "/var/lib/footnote" "FOOTNOTE_HTTP_HOST" "0.0.0.0" "FOOTNOTE_HTTP_PORT" 8080 -}}
{{- if $values.documents.existingClaim }}{{ $_ := set $settings "FOOTNOTE_DOCS" "/srv/documents" }}{{ end -}}
{{- if $values.ingress.enabled }}{{ $_ := set $settings "FOOTNOTE_PUBLIC_URL" (printf "https://%s" $values.ingress.host) }}{{ end -}}
{{- $settings = mergeOverwrite $settings (deepCopy $values.settings) -}}
{{- $secrets := dict -}}
{{- range $name, $from := $values.secrets }}{{ if $from }}{{ $_ := set $secrets $name $from }}{{ end }}{{ end -}}
metadata:
  labels:
    {{- include "footnote.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with $values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ $values.serviceAccountName }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with $values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- /* The pause before SIGTERM, what draining takes, and 10 seconds. */}}
  terminationGracePeriodSeconds: 25
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "footnote.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ .component }}
  {{- with $values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    - name: footnote
      image: {{ $values.image.repository }}{{ if $values.image.digest }}@{{ $values.image.digest }}{{ else }}:{{ default $root.Chart.AppVersion $values.image.tag }}{{ end }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: {{- toYaml .args | nindent 8 }}
      workingDir: /var/lib/footnote
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      env:
        {{- range $name, $value := $settings }}
        {{- if not (kindIs "invalid" $value) }}
        - name: {{ $name }}
          value: {{ include "footnote.value" $value | quote }}
        {{- end }}
        {{- end }}
        {{- range $name, $from := $secrets }}
        - name: {{ $name }}_FILE
          value: /run/secrets/footnote/{{ $name }}
        {{- end }}
        {{- with $values.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- if .port }}
      ports:
        - {name: http, containerPort: {{ .port }}}
      # It waits a minute for a database that is started at the same time.
      startupProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 24
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      # Requests arrive until every node knows that the pod is ending.
      lifecycle:
        preStop:
          sleep: {seconds: 5}
      {{- end }}
      {{- with .resources }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - {name: data, mountPath: /var/lib/footnote}
        - {name: tmp, mountPath: /tmp}
        {{- if $secrets }}
        - {name: secrets, mountPath: /run/secrets/footnote, readOnly: true}
        {{- end }}
        {{- if $values.documents.existingClaim }}
        - {name: documents, mountPath: /srv/documents, readOnly: true}
        {{- end }}
        {{- with $values.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - name: data
      {{- if .data }}
      persistentVolumeClaim: {claimName: {{ .data }}}
      {{- else }}
      emptyDir: {}
      {{- end }}
    - name: tmp
      emptyDir: {}
    {{- if $secrets }}
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- range $name, $from := $secrets }}
          - secret:
              name: {{ $from.name }}
              items: [{key: {{ default $name $from.key }}, path: {{ $name }}}]
          {{- end }}
    {{- end }}
    {{- if $values.documents.existingClaim }}
    - name: documents
      persistentVolumeClaim: {claimName: {{ $values.documents.existingClaim }}, readOnly: true}
    {{- end }}
    {{- with $values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end }}
