import { type Static, Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { hasLiquid } from '../../../lib/liquid/liquid.ts'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { HOUR_MS, SECOND_MS } from '../../../lib/times.ts'
import { liquidFaults, templatesIn, withRendered } from './liquid.ts'
import { broken, missingOf } from './settings.ts'
import { type Case, DEFAULT_PATH, type Decision, type Effect, type HeaderValue, type StepContext, step } from './step.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const BODY_LENGTH_MAX = 32_768
const VALUE_LENGTH_MAX = 2000
const HEADERS_MAX = 20
const TIMEOUT_SECONDS = 15
const RETRIES = 3
/** The seventh would come more than 24 hours after the step asked for the call. */
const RETRIES_MAX = 6
/** Retries end after 24 hours, so that a call without an answer by then was lost. */
const ANSWER_MAX_MS = 25 * HOUR_MS

const Header = Type.Unsafe<HeaderValue>({
  type: ['string', 'object'],
  maxLength: VALUE_LENGTH_MAX,
  properties: { secret: { type: 'string', minLength: 1, maxLength: VALUE_LENGTH_MAX } },
  required: ['secret'],
  additionalProperties: false,
  description: 'A text, which may contain Liquid, or `{ "secret": "…" }`, which is stored encrypted and is not returned.',
  documented: {
    oneOf: [
      { type: 'string', maxLength: VALUE_LENGTH_MAX },
      {
        type: 'object',
        properties: { secret: { type: 'string', minLength: 1, maxLength: VALUE_LENGTH_MAX, description: 'The value.' } },
        required: ['secret'],
        additionalProperties: false,
      },
    ],
  },
})

const Settings = Exact({
  method: Type.Optional(OneOf(METHODS, { description: 'Default `POST`.' })),
  url: Type.Optional(Line(2048, { description: 'An HTTPS URL. The path and the query may contain Liquid.' })),
  headers: Type.Optional(
    Type.Unsafe<Record<string, HeaderValue>>({
      type: 'object',
      maxProperties: HEADERS_MAX,
      patternProperties: { '^.*$': Header },
      description: 'Headers by name, in addition to `Content-Type: application/json` and `Idempotency-Key`.',
    }),
  ),
  body: Type.Optional(Type.String({ maxLength: BODY_LENGTH_MAX, description: 'The body, which may contain Liquid.' })),
  timeout_seconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 15, description: `How long to wait for an answer, in seconds. Default ${TIMEOUT_SECONDS}.` }),
  ),
  retries: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: RETRIES_MAX,
      description: `How many times to retry the call if there is no answer, or if the answer is 408, 409, 429 or 5xx. Default ${RETRIES}.`,
    }),
  ),
})
type Settings = Static<typeof Settings>

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const OWN_HEADERS = ['host', 'content-length', 'connection', 'transfer-encoding', 'upgrade', 'idempotency-key']
/** What begins an URL up to its path: no Liquid may choose the host. */
const ORIGIN = /^https?:\/\/[^\s/?#{}]+(?:[/?#]|$)/i
const LINE_BREAK = /[\r\n\0]/
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/

/** Whether HTTP can carry a text as the value of a header: emoji and most scripts it cannot. */
export const isHeaderText = (text: string): boolean => !NOT_IN_HEADERS.test(text)

function publishedFaults(settings: Settings): Fault[] {
  const { url, headers = {}, body } = settings
  return [
    ...missingOf(settings, 'url'),
    ...(url === undefined ? [] : urlFaults(url)),
    ...Object.keys(headers).flatMap((name) => {
      if (!HEADER_NAME.test(name)) return [broken('headers', `\`${name.slice(0, 100)}\` is not the name of a header.`)]
      return OWN_HEADERS.includes(name.toLowerCase()) ? [broken('headers', `The header \`${name}\` cannot be set. Omit it.`)] : []
    }),
    ...liquidFaults(textsOf(headers), 'headers'),
    ...liquidFaults(body, 'body'),
  ]
}

function urlFaults(url: string): Fault[] {
  const isUrl = ORIGIN.test(url) && (hasLiquid(url) || URL.canParse(url))
  return isUrl
    ? liquidFaults(url, 'url')
    : [broken('url', 'The value of `url` must be a URL that starts with `https://`, and its host must not contain Liquid.')]
}

/** The headers that are no secrets. */
const textsOf = (headers: Record<string, HeaderValue>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))

function callOf(settings: Settings, rendered: StepContext['rendered']): Effect | { problem: string } {
  const { method = 'POST', url = '', headers = {}, body, timeout_seconds = TIMEOUT_SECONDS, retries = RETRIES } = settings
  const filled = withRendered({ url, headers: textsOf(headers), body }, '', (param) => rendered(param.slice(1)))
  if ('problem' in filled) return filled
  const texts = filled.value
  if ([texts.url, ...Object.values(texts.headers)].some((text) => LINE_BREAK.test(text)))
    return { problem: 'a header or the URL has a line break' }
  if (!Object.values(texts.headers).every(isHeaderText)) return { problem: 'a header has a character that HTTP cannot carry' }
  return {
    is: 'call',
    method,
    url: texts.url,
    headers: { ...headers, ...texts.headers },
    body: texts.body ?? null,
    timeoutMs: timeout_seconds * SECOND_MS,
    retries,
  }
}

const lastAnswer = (calledAt: Date) => new Date(calledAt.getTime() + ANSWER_MAX_MS)

/** When the call was asked for: on arrival, unless a later instant was noted that is not in a future that did not come. */
function calledAtOf({ noted, arrivedAt, now }: StepContext): Date {
  const known = typeof noted.called_at === 'string' ? new Date(noted.called_at) : arrivedAt
  return known > now ? arrivedAt : known
}

function decide(settings: Settings, context: StepContext): Decision {
  const { input, now, arrivedAt, rendered } = context
  switch (input.is) {
    case 'arrived': {
      const call = callOf(settings, rendered)
      if ('problem' in call) return { is: 'go', path: 'failed', reason: 'render_failed', seen: { problem: call.problem } }
      return { is: 'do', effect: call }
    }
    case 'done':
      if (input.result.is === 'refused') return { is: 'go', path: 'failed', reason: input.result.reason }
      return {
        is: 'wait',
        until: lastAnswer(now),
        on: [],
        note: 'called',
        ...(now > arrivedAt && { seen: { called_at: now.toISOString() } }),
      }
    case 'answer':
      return decideAnswer(input.answer.status, input.problem)
    case 'timer': {
      const until = lastAnswer(calledAtOf(context))
      // That of an exit criterion comes earlier, and is made again as that of the step if it failed.
      if (now < until) return { is: 'wait', until, on: [], note: 'called' }
      return { is: 'go', path: 'failed', reason: 'no_answer' }
    }
    default:
      return { is: 'stay' }
  }
}

function decideAnswer(status: number | null, problem: string | null): Decision {
  const seen = { seen: { status } }
  if (problem === null && status !== null && status >= 200 && status < 300)
    return { is: 'go', path: 'success', reason: 'answered', ...seen }
  return { is: 'go', path: 'failed', reason: problem ?? 'status', ...seen }
}

const score: Settings = {
  url: 'https://example.com/score?user={{ user.external_id }}',
  headers: { 'X-Plan': '{{ user.data.plan }}', Authorization: { secret: 'sealed' } },
  body: '{"total":{{ event.data.total }}}',
  timeout_seconds: 5,
  retries: 2,
}
const texts = { url: { text: 'https://example.com/score?user=ana' }, 'headers.X-Plan': { text: 'pro' }, body: { text: '{"total":9}' } }
const answered = (status: number | null, problem: string | null = null) => ({
  is: 'answer' as const,
  answer: { status, body: {} },
  problem,
})
const gone = (path: string, reason: string, status: number | null): Decision => ({ is: 'go', path, reason, seen: { status } })

const CASES: Case<Settings>[] = [
  {
    title: 'calls with rendered texts and sealed secrets',
    settings: score,
    given: { rendered: texts },
    decides: {
      is: 'do',
      effect: {
        is: 'call',
        method: 'POST',
        url: 'https://example.com/score?user=ana',
        headers: { 'X-Plan': 'pro', Authorization: { secret: 'sealed' } },
        body: '{"total":9}',
        timeoutMs: 5000,
        retries: 2,
      },
    },
  },
  {
    title: 'Liquid fails',
    settings: score,
    given: { rendered: { ...texts, body: { problem: 'unknown filter' } } },
    decides: { is: 'go', path: 'failed', reason: 'render_failed', seen: { problem: 'unknown filter' } },
  },
  {
    title: 'a header that would add another one',
    settings: score,
    given: { rendered: { ...texts, 'headers.X-Plan': { text: 'pro\r\nX-Admin: 1' } } },
    decides: { is: 'go', path: 'failed', reason: 'render_failed', seen: { problem: 'a header or the URL has a line break' } },
  },
  {
    title: 'a header that HTTP cannot carry',
    settings: score,
    given: { rendered: { ...texts, 'headers.X-Plan': { text: 'pro 🎉' } } },
    decides: { is: 'go', path: 'failed', reason: 'render_failed', seen: { problem: 'a header has a character that HTTP cannot carry' } },
  },
  {
    title: 'waits for the answer longer than retries take',
    settings: score,
    given: { input: { is: 'done', result: { is: 'applied' } } },
    decides: { is: 'wait', until: new Date('2026-11-24T10:00:00Z'), on: [], note: 'called' },
  },
  {
    title: 'waits as long for a call that was held',
    settings: score,
    given: { now: new Date('2026-11-25T09:00:00Z'), input: { is: 'done', result: { is: 'applied' } } },
    decides: {
      is: 'wait',
      until: new Date('2026-11-26T10:00:00Z'),
      on: [],
      note: 'called',
      seen: { called_at: '2026-11-25T09:00:00.000Z' },
    },
  },
  { title: '2xx', settings: score, given: { input: answered(204) }, decides: gone('success', 'answered', 204) },
  { title: 'other 4xx', settings: score, given: { input: answered(404) }, decides: gone('failed', 'status', 404) },
  { title: '5xx after all retries', settings: score, given: { input: answered(503, 'gave_up') }, decides: gone('failed', 'gave_up', 503) },
  { title: '3xx', settings: score, given: { input: answered(302, 'redirect') }, decides: gone('failed', 'redirect', 302) },
  { title: 'a private address', settings: score, given: { input: answered(null, 'blocked') }, decides: gone('failed', 'blocked', null) },
  {
    title: 'no answer for 25 hours',
    settings: score,
    given: { now: new Date('2026-11-24T10:00:00Z'), input: { is: 'timer' } },
    decides: { is: 'go', path: 'failed', reason: 'no_answer' },
  },
  {
    title: 'waits on when the timer was early',
    settings: score,
    given: { now: new Date('2026-11-24T09:59:00Z'), input: { is: 'timer' } },
    decides: { is: 'wait', until: new Date('2026-11-24T10:00:00Z'), on: [], note: 'called' },
  },
  {
    title: 'waits on when the timer of a call that was held was early',
    settings: score,
    given: { now: new Date('2026-11-26T09:59:00Z'), noted: { called_at: '2026-11-25T09:00:00.000Z' }, input: { is: 'timer' } },
    decides: { is: 'wait', until: new Date('2026-11-26T10:00:00Z'), on: [], note: 'called' },
  },
  {
    title: 'an event changes nothing',
    settings: score,
    given: { input: { is: 'event', name: 'purchase', data: {}, createdAt: new Date('2026-11-23T09:00:00Z') } },
    decides: { is: 'stay' },
  },
]

export const webhook = step({
  label: 'Call a webhook',
  description: 'Calls a URL and waits for the answer, which later steps can read.',
  also: ['webhook', 'HTTP request', 'send and receive data', 'API call', 'send data'],
  settings: Settings,
  example: { method: 'POST', url: 'https://example.com/score', body: '{"user":"{{ user.external_id }}"}' },
  sentence: 'call https://example.com/score with the user’s external id',
  paths: () => [
    { path: DEFAULT_PATH, isRequired: false },
    { path: 'success', isRequired: false },
    { path: 'failed', isRequired: false },
  ],
  faults: (settings, when) => (when === 'published' ? publishedFaults(settings) : []),
  needs: ({ url, headers = {}, body }) => ({
    liquid: [...templatesIn(url, 'url'), ...templatesIn(textsOf(headers), 'headers'), ...templatesIn(body, 'body')],
  }),
  decide,
  tell: ({ url }, { path, reason, seen, left_at }) => {
    const host = url === undefined ? 'the URL' : hostOf(url)
    if (left_at === null) return `Waiting for an answer from ${host}.`
    if (path === 'success') return `Called ${host}, which answered with ${seen.status}.`
    return `The call to ${host} failed${reason === 'status' ? ` with ${seen.status}` : ` (${reason})`}.`
  },
  cases: CASES,
})

/** The host of an URL, which contains no Liquid. */
const hostOf = (url: string): string => url.split('/')[2] ?? url
