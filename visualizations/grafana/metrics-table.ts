import { METRICS } from '../../src/telemetry/names.ts'

const HEAD = `# Metrics

Every metric of Switchgear. Prometheus reads them at \`GET /metrics\` of the gateway, or from \`prometheusMetrics(gear)\` of
\`switchgear/telemetry\`; \`openTelemetry(gear)\` exports the same under the names of the last column, with the same labels. An
exporter from OpenTelemetry to Prometheus makes the names of the first column of them, so that dashboard and alerts fit both.

A circuit is labelled with its target and its model. Where a target has a \`bucket\`, \`target\` is the name of that, and where several share
it, \`model\` is empty unless all have the same. Labels are names from the configuration; models that callers name are bounded by \`maxBuckets\`.

A circuit that is forgotten (idle, or pushed out by \`maxBuckets\`) takes its series with it. Should it come back, its counters begin at 0, which
\`rate()\` and \`increase()\` take for a restart: sum after the rate, never before. A reload keeps the counters of targets and circuits that stay.

## Setting up

\`\`\`yaml
# prometheus.yml; where server.admin is configured, its port
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: switchgear
    scrape_interval: 15s
    static_configs: [{ targets: ['127.0.0.1:4000'] }]
\`\`\`

\`alerts.yaml\` beside this page holds the rules; put your own place for \`runbook.md\` into it, as its first lines say. In Grafana, import
\`dashboard.json\` (Dashboards, New, Import) and choose the data source at its top.

## The table

| Prometheus | type | labels | what it says | OpenTelemetry |
|---|---|---|---|---|
`

/** The table of names for people. */
export function metricsTable(): string {
  const rows = Object.values(METRICS).map(
    ({ name, type, labels, help, otel }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help.replaceAll('|', '\\|')} | \`${otel}\` |`,
  )
  return `${HEAD}${rows.join('\n')}\n`
}
