{{- define "carillon.name" -}}
{{- if contains "carillon" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-carillon" (.Release.Name | trunc 40) }}{{ end }}
{{- end }}

{{- define "carillon.selector" -}}
app.kubernetes.io/name: carillon
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "carillon.labels" -}}
{{ include "carillon.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* What every pod has: no privileges, and a file system that is read-only but for two folders. */}}
{{- define "carillon.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: data
    emptyDir: {}
  - name: tmp
    emptyDir: {}
{{- if .Values.secretFiles }}
  - name: secrets
    {{- /* 0440: the group of the process reads it. */}}
    secret: { secretName: {{ .Values.existingSecret }}, defaultMode: 288 }
{{- end }}
{{- end }}

{{- define "carillon.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
env:
  - name: BASE_URL
    value: {{ .Values.baseUrl | quote }}
  - name: OPS_PORT
    value: {{ .Values.opsPort | quote }}
  {{- /* The kubelet and Prometheus ask from outside of the pod. */}}
  - name: OPS_HOST
    value: 0.0.0.0
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    {{- /* A number of a values file is a float, and a large one would be written with an exponent. */}}
    {{- $text := toString $value }}
    {{- if kindIs "float64" $value }}
    {{- if eq $value (floor $value) }}
    {{- $text = int64 $value | toString }}
    {{- end }}
    {{- end }}
    value: {{ $text | quote }}
  {{- end }}
  {{- range .Values.secretFiles }}
  - name: {{ . }}_FILE
    value: /run/secrets/carillon/{{ . }}
  {{- end }}
{{- if not .Values.secretFiles }}
envFrom:
  - secretRef:
      name: {{ .Values.existingSecret }}
{{- end }}
volumeMounts:
  - name: data
    mountPath: /var/lib/carillon
  - name: tmp
    mountPath: /tmp
{{- if .Values.secretFiles }}
  - name: secrets
    mountPath: /run/secrets/carillon
    readOnly: true
{{- end }}
{{- end }}
