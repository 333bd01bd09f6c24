/**
 * The chart names what the server has. Where Helm is installed, it lints the chart and renders it, and what it renders is read here: roles,
 * probes and privileges of every pod.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../src/infra/runtime/metrics.ts'
import { settings } from '../../src/infra/runtime/settings.ts'

const CHART = 'deploy/helm'
const textOf = (path: string) => readFileSync(path, 'utf8')
const templates = globSync(`${CHART}/templates/*`).map(textOf).join('\n')

const isInstalled = (() => {
  try {
    execFileSync('helm', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const helm = (...args: string[]) => execFileSync('helm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const REQUIRED = ['--set', 'existingSecret=carillon,baseUrl=https://carillon.example.com']
const EVERYTHING = [
  ...['--set', 'ingress.enabled=true,ingress.host=carillon.example.com,ingress.tlsSecret=certificate'],
  ...['--set', 'worker.autoscaling.enabled=true,serviceMonitor.enabled=true,serviceMonitor.metricsToken=true'],
]

/** What the chart renders, each object as text under its kind and name. */
function render(...more: string[]): Map<string, string> {
  const objects = helm('template', 'carillon', CHART, ...REQUIRED, ...more).split(/^---$/m)
  const named = objects.map(
    (object) => [/^kind: (\S+)\nmetadata:\n {2}name: (\S+)$/m.exec(object)?.slice(1).join(' ') ?? '', object] as const,
  )
  return new Map(named.filter(([name]) => name !== ''))
}

describe('the chart', () => {
  test('has the version of the release', () => {
    const { version } = JSON.parse(textOf('package.json'))
    expect(textOf(`${CHART}/Chart.yaml`)).toContain(`\nversion: ${version}\nappVersion: ${version}\n`)
  })

  test('sets settings that exist', () => {
    const named = [...templates.matchAll(/- name: ([A-Z_]+)$/gm)].map(([, name = '']) => name)
    expect(named).toEqual(['BASE_URL', 'OPS_PORT', 'OPS_HOST'])
    expect(named.filter((name) => !Object.hasOwn(settings, name))).toEqual([])
  })

  // Helm before 3.10 is built with such a Go: `and` and `or` evaluate all of their arguments, and a text cannot be compared with a number.
  test('has no condition that fails where Go evaluates all parts of it', () => {
    expect(templates.match(/\{\{-? (?:else )?if (?:and|or) [^}]*\(kindIs [^}]*/g)).toBeNull()
  })

  test('scales by a metric that exists', async () => {
    const [, metric] = /^ {4}metric: (\S+)$/m.exec(textOf(`${CHART}/values.yaml`)) ?? []
    expect((await createMetrics('0.1.0').exposition()).text).toContain(`# TYPE ${metric} gauge`)
  })
})

describe.runIf(isInstalled)('for Helm', () => {
  test.each([
    ['the required values', []],
    ['everything', EVERYTHING],
  ])('the chart is sound with %s', (_, values) => {
    expect(helm('lint', '--strict', CHART, ...REQUIRED, ...values)).toContain('0 chart(s) failed')
  })

  test.each([
    ['baseUrl=https://carillon.example.com', 'existingSecret'],
    ['existingSecret=carillon', 'baseUrl'],
    ['existingSecret=carillon,baseUrl=https://carillon.example.com,settings.PORT=80', 'settings'],
  ])('%s alone is refused', (values, about) => {
    expect(() => helm('template', CHART, '--set', values)).toThrow(about)
  })

  test('the values choose the objects', () => {
    const always = ['Deployment carillon-api', 'Deployment carillon-worker', 'Job carillon-migrate']
    const services = ['PodDisruptionBudget carillon-api', 'PodDisruptionBudget carillon-worker', 'Service carillon', 'Service carillon-ops']
    const chosen = ['HorizontalPodAutoscaler carillon-worker', 'Ingress carillon', 'ServiceMonitor carillon']
    expect([...render().keys()].sort()).toEqual([...always, ...services].sort())
    expect([...render(...EVERYTHING).keys()].sort()).toEqual([...always, ...services, ...chosen].sort())
    expect(render('--set', 'migration.enabled=false').has('Job carillon-migrate')).toBe(false)
  })

  const pods = ['Deployment carillon-api', 'Deployment carillon-worker', 'Job carillon-migrate']

  test('a large number of a values file is written without an exponent', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'carillon-helm-')), 'values.yaml')
    writeFileSync(file, 'settings: { BACKLOG_ITEMS_MAX: 5000000, LOG_LEVEL: info }\n')
    expect(render('-f', file).get('Deployment carillon-api')).toMatch(/name: BACKLOG_ITEMS_MAX\n +value: "5000000"\n/)
  })

  test.each(pods)('%s has secrets in files instead of the environment, if they are named', (name) => {
    const pod = render('--set', 'secretFiles={DATABASE_URL,SECRETS_KEY}').get(name) ?? ''
    expect(pod).not.toContain('envFrom')
    expect([...pod.matchAll(/- name: (\w+_FILE)\n +value: (\S+)\n/g)].map(([, ...setting]) => setting)).toEqual([
      ['DATABASE_URL_FILE', '/run/secrets/carillon/DATABASE_URL'],
      ['SECRETS_KEY_FILE', '/run/secrets/carillon/SECRETS_KEY'],
    ])
    expect(pod).toMatch(/- name: secrets\n +mountPath: \/run\/secrets\/carillon\n +readOnly: true\n/)
    expect(pod).toMatch(/- name: secrets\n +secret: { secretName: carillon, defaultMode: 288 }\n/)
    expect(render().get(name)).toMatch(/envFrom:\n +- secretRef:\n +name: carillon\n/)
    expect(render().get(name)).not.toContain('secrets\n')
  })

  test.each(pods)('%s has no privileges, and a root that it cannot write to', (name) => {
    const wanted = ['runAsNonRoot: true', 'readOnlyRootFilesystem: true', 'allowPrivilegeEscalation: false', 'drop: [ALL]']
    expect(wanted.filter((line) => !render().get(name)?.includes(line))).toEqual([])
  })

  test.each(['api', 'worker'])('%s is asked on OPS_PORT whether it runs, and stops after requests went elsewhere', (role) => {
    const pod = render('--set', 'opsPort=9400').get(`Deployment carillon-${role}`) ?? ''
    expect(pod).toContain(`args: [start, ${role}]`)
    expect(pod).toContain('containerPort: 9400')
    expect(pod.match(/(startup|liveness|readiness)Probe:\n +httpGet: { path: \S+, port: ops }/g)).toHaveLength(3)
    expect(pod).toMatch(/livenessProbe:\n +httpGet: { path: \/livez,/)
    expect(pod).toContain('exec: { command: [sleep, "5"] }')
  })

  test('with autoscaling, the chart does not reset how many workers there are', () => {
    const replicas = (name: string, ...more: string[]) => /^ {2}replicas: (\d+)$/m.exec(render(...more).get(name) ?? '')?.[1]
    expect(replicas('Deployment carillon-worker')).toBe('2')
    expect(replicas('Deployment carillon-worker', ...EVERYTHING)).toBeUndefined()
    expect(replicas('Deployment carillon-api', ...EVERYTHING)).toBe('2')
  })
})
