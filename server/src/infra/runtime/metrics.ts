/**
 * The metrics, for Prometheus. There is a function for each, so that names and labels are only in this file. They use base units,
 * and no ids as labels (D-OPS-6).
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** A timer measures the delay of the event loop this often. Every 10 ms, the default, costs an idle server 0.4 % of a core. */
const LOOP_PRECISION_MS = 50

/** Gauges with the suffix of counters. Those without it, by type, stay. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Gauges that are read from the database when the metrics are asked for. */
const FROM_DATABASE = [
  'app_campaign_messages',
  'app_campaigns_running',
  'app_ingest_backlog_bytes',
  'app_ingest_backlog_items',
  'app_journey_timer_lag_seconds',
  'app_journey_waiting',
  'app_queue_jobs',
  'app_queue_oldest_job_age_seconds',
  'app_webhook_endpoints',
]

const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]
/** Buckets for times that include waiting. */
const LAG_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800]

function instrumentsOf(registry: Registry) {
  const registers = [registry]
  return {
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Counter({ name, help, labelNames: [...labelNames], registers }),
    gauge: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge({ name, help, labelNames: [...labelNames], registers }),
    histogram: <L extends string>(name: string, help: string, labelNames: readonly L[] = [], buckets = SECONDS) =>
      new Histogram({ name, help, labelNames: [...labelNames], buckets, registers }),
  }
}

/** Alerts on increases need the series before the first one: what begins with 1 has not increased for Prometheus. */
function startAtZero(counter: Counter<'what'>, labels: string[]): void {
  for (const what of labels) counter.inc({ what }, 0)
}

/** What tells that a process has too much to do. */
function overloadMetrics(registry: Registry) {
  const { counter, gauge } = instrumentsOf(registry)
  const lag = gauge('app_event_loop_lag_seconds', 'Lag of the event loop: the median of the last second. Alert on this metric.')
  const refused = counter('app_overload_refused_total', 'Requests refused because the event loop lagged.')
  const connections = gauge('app_http_connections', 'Open client connections.')
  const closed = counter('app_http_connections_refused_total', 'Connections refused by a limit.', ['limit'])
  const limited = counter('app_rate_limited_total', 'Requests refused by a rate limit.', ['scope'])
  return {
    connections: (open: number) => connections.set(open),
    connectionRefused: (limit: 'process' | 'address') => closed.inc({ limit }),
    eventLoopLag: (ms: number) => lag.set(ms / 1000),
    overloadRefused: () => refused.inc(),
    rateLimited: (scope: string) => limited.inc({ scope }),
  }
}

export function createMetrics(version: string) {
  const registry = new Registry()
  const { counter, gauge, histogram } = instrumentsOf(registry)
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_PRECISION_MS })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  gauge('app_build_info', 'The version of the server.', ['version']).set({ version }, 1)
  const requests = histogram('http_request_duration_seconds', 'Duration of a request.', ['method', 'route', 'status_class'])
  const statements = histogram('app_db_statement_duration_seconds', 'Duration of an SQL statement.')
  const connections = gauge('app_db_pool_connections', 'Connections to PostgreSQL.', ['state'])
  const ingested = counter('app_events_ingested_total', 'Events by result.', ['result'])
  const lags = histogram('app_event_lag_seconds', 'Time from accepting an event to applying it.', [], LAG_SECONDS)
  const backlogItems = gauge('app_ingest_backlog_items', 'Approximate number of accepted events and users waiting to be processed.')
  const backlogBytes = gauge('app_ingest_backlog_bytes', 'Approximate size in bytes of the accepted requests waiting to be processed.')
  const upserted = counter('app_users_upserted_total', 'Users saved or refused.', ['result'])
  const messages = counter('app_messages_total', 'Attempts to send a message, by outcome.', ['channel', 'provider', 'outcome'])
  const sends = histogram('app_message_send_duration_seconds', 'Duration of a call to a provider.', ['channel', 'provider'])
  const renders = histogram('app_template_render_duration_seconds', 'Duration of rendering a message.', ['channel'])
  const jobs = gauge('app_queue_jobs', 'Number of waiting or parked jobs.', ['queue', 'state'])
  const oldest = gauge('app_queue_oldest_job_age_seconds', 'Age of the oldest waiting job. Alert on this metric.', ['queue'])
  const runs = histogram('app_job_duration_seconds', 'Duration of a job run.', ['queue', 'result'])
  const attempts = counter('app_webhook_attempts_total', 'Webhook attempts by outcome.', ['outcome'])
  const attemptTimes = histogram('app_webhook_attempt_duration_seconds', 'Duration of a webhook attempt.')
  const endpoints = gauge('app_webhook_endpoints', 'Webhook endpoints by status.', ['status'])
  const replays = counter('app_idempotent_replays_total', 'Requests that got the stored reply of their Idempotency-Key.')

  return {
    /** The metrics in the exposition format, and its content type. */
    exposition: async () => ({ text: await registry.metrics(), type: registry.contentType }),
    request: (method: string, route: string, status: number, elapsedMs: number) =>
      requests.observe({ method, route, status_class: `${Math.floor(status / 100)}xx` }, elapsedMs / 1000),
    statement: (elapsedMs: number) => statements.observe(elapsedMs / 1000),
    pool: ({ total, idle, waiting }: { total: number; idle: number; waiting: number }) => {
      connections.set({ state: 'busy' }, total - idle)
      connections.set({ state: 'idle' }, idle)
      connections.set({ state: 'waiting' }, waiting)
    },
    eventsIngested: (result: 'accepted' | 'processed' | 'duplicate' | 'parked', count: number) => ingested.inc({ result }, count),
    eventLag: (seconds: number, count: number) => {
      for (let event = 0; event < count; event++) lags.observe(seconds)
    },
    backlog: (items: number, bytes: number) => {
      backlogItems.set(items)
      backlogBytes.set(bytes)
    },
    usersUpserted: (result: 'saved' | 'refused', count: number) => upserted.inc({ result }, count),
    messageSent: (channel: string, provider: string, outcome: string, elapsedMs: number) => {
      messages.inc({ channel, provider, outcome })
      sends.observe({ channel, provider }, elapsedMs / 1000)
    },
    messageRendered: (channel: string, elapsedMs: number) => renders.observe({ channel }, elapsedMs / 1000),
    queue: (queue: string, waiting: number, oldestSeconds: number) => {
      jobs.set({ queue, state: 'waiting' }, waiting)
      oldest.set({ queue }, oldestSeconds)
    },
    parked: (queue: string, count: number) => jobs.set({ queue, state: 'parked' }, count),
    jobRun: (queue: string, result: 'done' | 'failed', elapsedMs: number) => runs.observe({ queue, result }, elapsedMs / 1000),
    webhookAttempt: (outcome: 'succeeded' | 'failed', elapsedMs: number) => {
      attempts.inc({ outcome })
      attemptTimes.observe(elapsedMs / 1000)
    },
    webhookEndpoints: (counts: { status: string; count: number }[]) => {
      endpoints.reset()
      for (const { status, count } of counts) endpoints.set({ status }, count)
    },
    idempotentReplay: () => replays.inc(),
    ...metricsOfParts(registry),
  }
}

const metricsOfParts = (registry: Registry) => ({
  ...domainMetrics(registry),
  ...threadMetrics(registry),
  ...journeyMetrics(registry),
  ...listMetrics(registry),
  ...overloadMetrics(registry),
  ...campaignMetrics(registry),
  ...logMetrics(registry),
  ...databaseMetrics(registry),
})

/** When the queues could not be read, what was read from the database before is not reported. */
function databaseMetrics(registry: Registry) {
  const { gauge } = instrumentsOf(registry)
  const up = gauge('app_database_up', '1 if the database answered while the metrics were read, otherwise 0. Alert on this metric.')
  const read = gauge(
    'app_queues_read',
    '1 if the queues could be read, otherwise 0: their sizes and ages are then missing. Alert on this metric.',
  )
  return {
    databaseUp: (isUp: boolean) => up.set(isUp ? 1 : 0),
    queuesRead: (areRead: boolean) => {
      read.set(areRead ? 1 : 0)
      if (areRead) return
      for (const name of FROM_DATABASE) {
        const gauge = registry.getSingleMetric(name) as Gauge
        gauge.reset()
        // One without labels is 0 after the reset.
        gauge.remove({})
      }
    },
  }
}

/** Of the log of accepted requests, with LOG_URL. */
function logMetrics(registry: Registry) {
  const { gauge } = instrumentsOf(registry)
  const up = gauge('app_log_up', '1 while the log of accepted requests (LOG_URL) answers, otherwise 0. Alert on this metric.', ['log'])
  const bytes = gauge('app_log_bytes', 'Size in bytes of the log of accepted requests.', ['log'])
  return {
    acceptedLog: (isUp: boolean, size: number) => {
      up.set({ log: 'nats' }, isUp ? 1 : 0)
      bytes.set({ log: 'nats' }, size)
    },
  }
}

/** Labels with ids are bounded here: the caller gives the running blasts up to a limit, and others vanish. */
function campaignMetrics(registry: Registry) {
  const { gauge } = instrumentsOf(registry)
  const running = gauge('app_campaigns_running', 'Running blasts that are not paused. Only the newest 100 have metrics of their own.')
  const messages = gauge(
    'app_campaign_messages',
    'Messages of a running blast that are waiting, and those that are done. Alert when neither number changes.',
    ['project_id', 'campaign_id', 'state'],
  )
  return {
    campaignsRunning: (count: number, campaigns: CampaignProgress[]) => {
      running.set(count)
      messages.reset()
      for (const { project_id, campaign_id, waiting, done } of campaigns) {
        messages.set({ project_id, campaign_id, state: 'waiting' }, waiting)
        messages.set({ project_id, campaign_id, state: 'done' }, done)
      }
    },
  }
}

/** The messages of a blast that wait, and those that are sent, skipped or failed. */
export type CampaignProgress = { project_id: number; campaign_id: number; waiting: number; done: number }

function domainMetrics(registry: Registry) {
  const { counter } = instrumentsOf(registry)
  const unverified = counter('app_domains_unverified_total', 'Domains that lost their verification. Alert on this metric.', ['what'])
  startAtZero(unverified, ['links', 'sending'])
  return { domainUnverified: (what: 'links' | 'sending') => unverified.inc({ what }) }
}

function journeyMetrics(registry: Registry) {
  const { counter, gauge } = instrumentsOf(registry)
  const users = counter(
    'app_journey_users_total',
    'Users of journeys, counted by what happened to them. Alert when more than 100 are parked within 10 minutes.',
    ['what'],
  )
  startAtZero(users, ['entered', 'ended', 'held_out', 'parked', 'stale'])
  const refusals = counter('app_journey_refusals_total', 'Users who did not enter a journey, by reason.', ['reason'])
  const steps = counter(
    'app_journey_steps_total',
    'Users who arrived at steps of journeys, passed them to another step or the end, or left the journey or the step in another way.',
    ['kind', 'outcome'],
  )
  const rounds = counter('app_journey_rounds_total', 'Waves of items, their rounds, and the decisions in them.', ['what'])
  const waiting = gauge(
    'app_journey_waiting',
    'Users inside journeys (estimated), parked users, and webhook calls waiting for an answer.',
    ['what'],
  )
  const lag = gauge('app_journey_timer_lag_seconds', 'Age of the oldest timer of a user in a journey that is due. Alert on this metric.')
  return {
    journeys: (what: 'entered' | 'ended' | 'held_out' | 'parked' | 'stale', count: number) => users.inc({ what }, count),
    journeyRefusals: (reason: string, count: number) => refusals.inc({ reason }, count),
    journeySteps: (kind: string, outcome: 'arrived' | 'passed' | 'left', count: number) => steps.inc({ kind, outcome }, count),
    journeyRounds: (what: 'waves' | 'rounds' | 'decisions', count: number) => rounds.inc({ what }, count),
    journeyTimerLag: (seconds: number) => lag.set(seconds),
    journeysWaiting: (counts: { inside: number; parked: number; calls: number }) => {
      for (const [what, count] of Object.entries(counts)) waiting.set({ what }, count)
    },
  }
}

/** How long rules of lists take: after events and changes of users, in a chunk of a build, and to count the users of a rule. */
function listMetrics(registry: Registry) {
  const { histogram } = instrumentsOf(registry)
  const times = histogram('app_list_evaluation_duration_seconds', 'Duration of evaluating rules of lists, by the reason.', ['kind'])
  return { listsEvaluated: (kind: 'change' | 'build' | 'preview', elapsedMs: number) => times.observe({ kind }, elapsedMs / 1000) }
}

function threadMetrics(registry: Registry) {
  const { counter, gauge, histogram } = instrumentsOf(registry)
  const waiting = gauge('app_thread_tasks_waiting', 'Number of tasks waiting for a worker thread.')
  const waits = histogram('app_thread_task_wait_seconds', 'Time that a task waited for its turn in a worker thread.')
  const items = counter('app_thread_items_total', 'Task items processed by worker threads, by outcome.', ['task', 'outcome'])
  const stops = counter('app_threads_stopped_total', 'Worker threads that were stopped because an item exceeded a limit.', ['limit'])
  return {
    tasksWaiting: (count: number) => waiting.set(count),
    taskWaited: (elapsedMs: number) => waits.observe(elapsedMs / 1000),
    taskDone: (task: string, done: number, exceeded: number) => {
      items.inc({ task, outcome: 'done' }, done)
      if (exceeded > 0) items.inc({ task, outcome: 'exceeded' }, exceeded)
    },
    threadStopped: (limit: 'time' | 'memory') => stops.inc({ limit }),
  }
}
