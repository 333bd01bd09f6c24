/**
 * The metrics follow the conventions of Prometheus, and what the dashboard and the alerts name exists. Where promtool is installed, it checks
 * the metrics and the rules, and runs the tests of the rules.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../src/infra/runtime/metrics.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const textOf = (path: string) => readFileSync(`${root}${path}`, 'utf8')

const ALERTS = 'deploy/prometheus/alerts.yaml'
const ALERT_TESTS = 'deploy/prometheus/alerts.test.yaml'
const DASHBOARD = 'deploy/grafana/carillon.json'

const { text } = await createMetrics('0.1.0').exposition()
const helps = new Map([...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name = '', help = '']) => [name, help]))
const metrics = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({ name, type }))

/** Series of a metric, by its type. */
const series = new Set(
  metrics.flatMap(({ name, type }) => (type === 'histogram' ? ['bucket', 'count', 'sum'].map((part) => `${name}_${part}`) : [name])),
)

/** The names that an expression reads: what is followed by labels or a range, or begins like a metric. */
const namesIn = (expression: string): string[] => [
  ...new Set([...expression.matchAll(/\b((?:app|http|process|nodejs)_[a-z_]+)\b/g)].map(([, name = '']) => name)),
]

const isInstalled = (() => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const promtool = (args: string[], input = '') =>
  execFileSync('promtool', args, { cwd: `${root}deploy/prometheus`, input, encoding: 'utf8' })

describe('metrics', () => {
  test('have a help text, and the suffixes that their types need', () => {
    expect(metrics.length).toBeGreaterThan(50)
    const faulty = metrics.filter(
      ({ name, type }) =>
        !helps.get(name) ||
        (type === 'counter') !== name.endsWith('_total') ||
        /_(ms|milliseconds|minutes|hours|kb|mb|kilobytes|megabytes|count|sum|bucket|gauge|counter)(_|$)/.test(name),
    )
    expect(faulty).toEqual([])
  })

  test.runIf(isInstalled)('are clean for promtool', () => {
    expect(promtool(['check', 'metrics'], text)).toBe('')
  })
})

describe('alerts and the dashboard', () => {
  const expressionsOf = (path: string) =>
    path === DASHBOARD
      ? (JSON.parse(textOf(path)).panels as { targets?: { expr: string }[] }[]).flatMap(({ targets = [] }) =>
          targets.map(({ expr }) => expr),
        )
      : [textOf(path).replaceAll(/^ *summary:.*$/gm, '')]

  test.each([ALERTS, ALERT_TESTS, DASHBOARD])('%s names metrics that exist', (path) => {
    const names = expressionsOf(path).flatMap(namesIn)
    expect(names.length).toBeGreaterThan(4)
    expect(names.filter((name) => !series.has(name))).toEqual([])
  })

  test('what alerts on its increase is there before the first one', () => {
    const increasing = [...textOf(ALERTS).matchAll(/increase\((\w+)(?:\{(\w+="\w+")\})?/g)].map(([, name = '', label]) => ({ name, label }))
    expect(increasing.map(({ name }) => name)).toEqual(['app_domains_unverified_total', 'app_journey_users_total'])
    const missing = increasing.filter(({ name, label }) => !new RegExp(`^${name}\\{.*${label ?? ''}.*\\} 0$`, 'm').test(text))
    expect(missing).toEqual([])
  })

  test('every alert says what happened and how urgent it is, and the page about operating has a line for it', () => {
    const alerts = textOf(ALERTS).split('- alert: ').slice(1)
    expect(alerts.filter((alert) => !/severity: (page|ticket)/.test(alert) || !alert.includes('summary: "'))).toEqual([])
    const page = textOf('docs/operate/monitoring.md')
    expect(alerts.map((alert) => alert.split('\n', 1)[0] ?? '').filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  test.runIf(isInstalled)('the tests of the alerts pass', () => {
    promtool(['check', 'rules', 'alerts.yaml'])
    expect(promtool(['test', 'rules', 'alerts.test.yaml'])).toContain('SUCCESS')
  })
})
