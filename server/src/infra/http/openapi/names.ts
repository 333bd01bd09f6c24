/** Names of operations, groups and schemas in the API description, derived from method and path. */
import type { Route } from '../route.ts'

type Named = Pick<Route, 'method' | 'path' | 'list' | 'body' | 'status'>

/** The parts of a path after the prefix of client or utility routes. Parameters are null. */
function segmentsOf(path: string): (string | null)[] {
  const [, , family, ...rest] = path.split('/')
  // The first part of a utility’s path is only a group.
  const segments = family === 'ext' ? rest.slice(2) : rest
  return segments.map((segment) => (segment.startsWith('{') ? null : segment))
}

/** The group of an operation in the reference: its first collection. */
export function tagOf({ path }: Pick<Route, 'path'>): string {
  if (isUtility({ path })) return 'Utilities'
  if (path.startsWith('/api/console/')) return 'Console'
  const [collection] = segmentsOf(path)
  return collection ? collection.charAt(0).toUpperCase() + collection.slice(1) : 'Other'
}

/**
 * A stable name such as `listKeys`, `rotateWebhookSecret` or `updateOwnUserSubscriptions`.
 * A last part in the singular is an action (POST) or a single resource (GET, PUT).
 */
export function operationIdOf(route: Named): string {
  const segments = segmentsOf(route.path)
  if (isUtility(route)) return camel(segments.filter((segment) => segment !== null))
  const last = segments.at(-1) ?? null
  // `rotate-keys` is an action, `mail-sites` a collection.
  if (route.method === 'POST' && last !== null && last !== 'owner' && (!isPlural(last) || last.includes('-')))
    return camel([...verbOf(last), ...nounsOf(segments.slice(0, -1), false), ...restOf(last)])
  const many = last !== null && isPlural(last) && (route.method !== 'POST' || isArray(route))
  const verb = VERBS[route.method === 'GET' && many ? 'LIST' : route.method]
  return camel([verb, ...nounsOf(segments, !many)])
}

const VERBS = { LIST: 'list', GET: 'get', POST: 'create', PUT: 'set', PATCH: 'update', DELETE: 'delete' }

// `rotate-secret` of webhooks becomes `rotateWebhookSecret`.
const verbOf = (action: string) => action.split('-').slice(0, 1)
const restOf = (action: string) => action.split('-').slice(1)

/** The nouns of a path, in the singular, except perhaps the last. `me` becomes `own`. */
function nounsOf(segments: (string | null)[], singularLast: boolean): string[] {
  const nouns = wordsOf(segments)
  const lastIsAll = segments.at(-1) !== null && segments.at(-1) !== 'me'
  const named = nouns.map((noun, index) => (index === nouns.length - 1 && lastIsAll && !singularLast ? noun : singular(noun)))
  return segments.includes('me') ? ['own', ...named] : named
}

/** The base of the schema names of a path: `CampaignTemplate` for `/campaigns/{campaignId}/templates`. */
export function resourceNameOf({ path }: Pick<Route, 'path'>): string {
  const name = camel(nounsOf(segmentsOf(path), true))
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const isUtility = ({ path }: Pick<Route, 'path'>) => path.startsWith('/api/ext/')
const wordsOf = (segments: (string | null)[]) => segments.filter((segment) => segment !== null && segment !== 'me') as string[]

const isArray = ({ body }: Named) => (body as { type?: string } | undefined)?.type === 'array'
const isPlural = (word: string) => /[^s]s$/.test(word)

function singular(word: string): string {
  if (!isPlural(word)) return word
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.slice(0, -1)
}

function camel(words: string[]): string {
  const parts = words.flatMap((word) => word.split(/[-_]/))
  return parts.map((part, index) => (index === 0 ? part : part.charAt(0).toUpperCase() + part.slice(1))).join('')
}
