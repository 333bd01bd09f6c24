/** Rules in German. */
import { comparedBy } from '../conditions/comparison.ts'
import { countOf } from '../conditions/event.ts'
import { FIELDS } from '../conditions/fields.ts'
import { kindNameOf } from '../nodes.ts'
import type { Scalar } from '../operators/operator.ts'
import type { CampaignCondition, DeviceCondition, EventTest, JourneyCondition, Period, SubscriptionCondition } from '../rule.ts'
import type { ConditionWords, OperatorWords, RuleWords } from './words.ts'

/** The units of durations: one; several, as in `7 Tage`; after a preposition, as in `innerhalb von 7 Tagen`; one of them in the past. */
const UNITS: Record<string, { one: string; many: string; dative: string; last: string }> = {
  m: { one: 'Minute', many: 'Minuten', dative: 'Minuten', last: 'in der letzten Minute' },
  h: { one: 'Stunde', many: 'Stunden', dative: 'Stunden', last: 'in der letzten Stunde' },
  d: { one: 'Tag', many: 'Tage', dative: 'Tagen', last: 'in den letzten 24 Stunden' },
  w: { one: 'Woche', many: 'Wochen', dative: 'Wochen', last: 'in der letzten Woche' },
  y: { one: 'Jahr', many: 'Jahre', dative: 'Jahren', last: 'im letzten Jahr' },
}

const unitOf = (duration: string) => {
  const count = Number(duration.slice(0, -1))
  const { one, many, dative, last } = UNITS[duration.slice(-1)] as (typeof UNITS)[string]
  return {
    plain: `${count} ${count === 1 ? one : many}`,
    dative: `${count} ${count === 1 ? one : dative}`,
    past: count === 1 ? last : `in den letzten ${count} ${dative}`,
  }
}

const quoted = (value: Scalar) => (typeof value === 'string' ? `„${value}“` : String(value))
const named = (name: string) => (/^[\w.-]+$/.test(name) ? name : quoted(name))
const listed = (args: Scalar[]) => args.map(quoted).join(', ')
const ahead = (words: string) => words.replace('letzte', 'nächste')

const OPERATORS = {
  after: (time: string) => `liegt nach ${time}`,
  at_least: (number: number) => `ist mindestens ${number}`,
  at_most: (number: number) => `ist höchstens ${number}`,
  before: (time: string) => `liegt vor ${time}`,
  between: ([least, most]: [number, number]) => `liegt zwischen ${least} und ${most}`,
  contains: (one: Scalar) => `enthält ${quoted(one)}`,
  contains_any: (several: Scalar[]) => `enthält eines von ${listed(several)}`,
  does_not_contain: (one: Scalar) => `enthält nicht ${quoted(one)}`,
  ends_with: (text: string) => `endet mit ${quoted(text)}`,
  greater_than: (number: number) => `ist größer als ${number}`,
  is: (one: Scalar) => `ist ${quoted(one)}`,
  is_not: (one: Scalar) => `ist nicht ${quoted(one)}`,
  is_set: (isSet: boolean) => (isSet ? 'ist gesetzt' : 'ist nicht gesetzt'),
  less_than: (number: number) => `ist kleiner als ${number}`,
  more_than_ago: (duration: string) => `liegt mehr als ${unitOf(duration).plain} zurück`,
  not_one_of: (several: Scalar[]) => `ist keines von ${listed(several)}`,
  one_of: (several: Scalar[]) => `ist eines von ${listed(several)}`,
  starts_with: (text: string) => `beginnt mit ${quoted(text)}`,
  within_last: (duration: string) => `liegt ${unitOf(duration).past}`,
  within_next: (duration: string) => `liegt ${ahead(unitOf(duration).past)}`,
} satisfies OperatorWords

const operator: RuleWords['operator'] = (name, args) => (OPERATORS[name] as (args: unknown) => string)(args)

const compared = (condition: object): string => {
  const { name, args } = comparedBy(condition)
  return operator(name, args)
}

/** The attributes outside `data`. */
const FIELDS_IN_GERMAN: Record<string, string> = {
  email: 'E-Mail-Adresse',
  phone: 'Telefonnummer',
  timezone: 'Zeitzone',
  locale: 'Sprache',
  external_id: 'externe ID',
  anonymous_id: 'anonyme ID',
  created_at: 'Zeitpunkt der Anlage',
  has_push_device: 'Push-Gerät vorhanden',
  'timezone.country': 'Land der Zeitzone',
  'timezone.region': 'Region der Zeitzone',
}

/** What sentences call an attribute. One in `data` is called by its path. */
function field(attribute: string): string {
  const known = FIELDS_IN_GERMAN[attribute]
  if (known !== undefined) return known
  const name = attribute.slice('data.'.length)
  return named(Object.hasOwn(FIELDS, name) ? attribute : name)
}

const DEVICES: Record<DeviceCondition['device'], string> = {
  os: 'Betriebssystem',
  os_version: 'Version des Betriebssystems',
  model: 'Modell',
  app_version: 'Version der App',
  app_build: 'Build der App',
}

const periodWords = ({ within, since, until }: Period): string =>
  [
    within === undefined ? '' : ` innerhalb von ${unitOf(within).dative}`,
    since === undefined ? '' : ` seit ${since}`,
    until === undefined ? '' : ` vor ${until}`,
  ].join('')

const testWords = (tests: EventTest[]): string =>
  tests.map((test) => `${named(test.attribute.slice('data.'.length))} ${compared(test)}`).join(' und ')

function whereWords(where: EventTest[] = []): string {
  if (where.length === 0) return ''
  return where.length === 1 ? `, wobei gilt: ${testWords(where)}` : `, wobei gilt: (${testWords(where)})`
}

const times = (count: number) => (count === 1 ? 'einmal' : `${count}-mal`)

const CAMPAIGNS: Record<CampaignCondition['did'], (campaign: string, period: string) => string> = {
  sent: (campaign, period) => `hat die Kampagne ${campaign}${period} gesendet bekommen`,
  delivered: (campaign, period) => `hat die Kampagne ${campaign}${period} erhalten`,
  opened: (campaign, period) => `hat die Kampagne ${campaign}${period} geöffnet`,
  clicked: (campaign, period) => `hat in der Kampagne ${campaign}${period} geklickt`,
  bounced: (campaign, period) => `war für die Kampagne ${campaign}${period} nicht erreichbar`,
  complained: (campaign, period) => `hat sich über die Kampagne ${campaign}${period} beschwert`,
  failed: (campaign, period) => `konnte die Kampagne ${campaign}${period} nicht bekommen`,
}

const JOURNEYS: Record<JourneyCondition['is'], (journey: string, rest: string) => string> = {
  inside: (journey, rest) => `ist in der Journey ${journey}${rest}`,
  never_entered: (journey, rest) => `hat die Journey ${journey}${rest} nicht begonnen`,
  completed: (journey, rest) => `hat die Journey ${journey}${rest} abgeschlossen`,
  exited: (journey, rest) => `hat die Journey ${journey}${rest} verlassen`,
  held_out: (journey, rest) => `kam in die Kontrollgruppe der Journey ${journey}${rest}`,
}

const SUBSCRIPTIONS: Record<SubscriptionCondition['is'], (type: string) => string> = {
  subscribed: (type) => `hat ${type} abonniert`,
  unsubscribed: (type) => `hat ${type} nicht abonniert`,
  confirmed: (type) => `hat ${type} bestätigt`,
}

const nameOr = (id: number, name: string | undefined) => (name === undefined ? String(id) : quoted(name))

const CONDITIONS: ConditionWords = {
  attribute: (given) => `${field(given.attribute)} ${compared(given)}`,
  bucket: (given) => `Zufallsgruppe ${quoted(given.bucket)} ${compared(given)}`,
  campaign: ({ campaign, did, ...period }, names) => CAMPAIGNS[did](nameOr(campaign, names.campaign(campaign)), periodWords(period)),
  device: (given) => `hat ein Gerät, für das gilt: ${DEVICES[given.device]} ${compared(given)}`,
  event(given) {
    const name = named(given.event)
    const edge = given.first ?? given.last
    const period = periodWords(given)
    if (edge) {
      const rest = `${period}${whereWords(given.where)}`.replace(/^,? /, '')
      return `das ${given.first ? 'erste' : 'letzte'} ${name}${rest === '' ? '' : ` (${rest})`} ${compared(edge)}`
    }
    const { least, most } = countOf(given)
    if (most === 0) return `hat ${name}${period} nie ausgelöst${whereWords(given.where)}`
    const count =
      most === null ? (least === 1 ? '' : ` mindestens ${times(least)}`) : ` ${least === most ? 'genau' : 'höchstens'} ${times(most)}`
    return `hat ${name}${count}${period} ausgelöst${whereWords(given.where)}`
  },
  journey: ({ journey, is, step, within }, names) =>
    JOURNEYS[is](
      names.journey(journey) ?? String(journey),
      `${step === undefined ? '' : ` beim Schritt \`${step}\``}${within === undefined ? '' : periodWords({ within })}`,
    ),
  list: ({ list }, names) => `in der Liste ${nameOr(list, names.list(list))}`,
  subscription: ({ subscription, is }, names) => SUBSCRIPTIONS[is](nameOr(subscription, names.subscription(subscription))),
}

export const german: RuleWords = {
  and: 'und',
  or: 'oder',
  not: (words, isGroup) => (words.startsWith('in der Liste ') && !isGroup ? `nicht ${words}` : `nicht (${words})`),
  needsComma: (words) => words.includes(' wobei '),
  condition: (condition, names) => (CONDITIONS[kindNameOf(condition)] as (given: object, names: unknown) => string)(condition, names),
  operator,
  field,
}
