/** `carillon import-from`: users, opt-outs, suppressed addresses and templates from the export files of other products. */
import { basename } from 'node:path'
import type { PhoneDefaults } from '../../lib/phone.ts'
import { trimEndMatching } from '../../lib/text.ts'
import type { Call } from '../call-api.ts'
import { readArguments, UsageError } from '../command.ts'
import { OPTIONS } from '../options.ts'
import { emailProblem, withAddresses } from './addresses.ts'
import type { ExportedUser, Product, Reason, Row, Suppression } from './product.ts'
import { textOf } from './product.ts'
import * as products from './products.ts'
import { rowsOf } from './read-export.ts'
import {
  BATCH_BYTES_MAX,
  BATCH_ITEMS,
  type Batch,
  bytesOf,
  type Counts,
  type Refusal,
  sendSuppressions,
  sendUsers,
  suppressionsOf,
  type Target,
} from './send.ts'
import { importTemplate, type TemplateOptions } from './template.ts'
import { converted, type Types, typesOf } from './types.ts'

const PRODUCTS: Record<string, Product> = products
const KINDS = ['users', 'suppressions', 'template'] as const
const REASONS: readonly Reason[] = ['unsubscribed_all', 'manual', 'hard_bounce', 'complaint']
const USER_TOO_LARGE = `The user is larger than ${BATCH_BYTES_MAX / 1000} kB. Leave out columns that you do not need.`

export type ImportOptions = {
  product: Product
  kind: (typeof KINDS)[number]
  file: string
  url: string | undefined
  key: string | undefined
  /** The header of the id, if it is not that of the product. */
  id: string | undefined
  types: Types
  reason: Reason | undefined
  isDryRun: boolean
  template: TemplateOptions
  target: Omit<Target, 'call'>
}

/** Reads the arguments of the command. Throws `UsageError` if one is invalid. */
export function importOptions(args: string[]): ImportOptions {
  const { values, operands } = readArguments(args, OPTIONS.importFrom, Number.POSITIVE_INFINITY)
  const [name = '', kind = '', file = '', ...more] = operands
  if (!Object.hasOwn(PRODUCTS, name)) throw new UsageError(`Import from one of ${Object.keys(PRODUCTS).join(', ')}.`)
  if (!isOneOf(kind, KINDS)) throw new UsageError(`After the product, specify the content of the file: ${KINDS.join(', ')}.`)
  if (file === '' || more.length > 0) throw new UsageError('Specify exactly one file.')
  const { reason } = values
  if (reason !== undefined && !isOneOf(reason, REASONS)) throw new UsageError(`--reason must be one of ${REASONS.join(', ')}.`)
  const subscriptionId = idOf('subscription', values.subscription)
  const listId = idOf('list', values.list)
  const product = PRODUCTS[name] as Product
  if (kind === 'users' && subscriptionId !== undefined && product.filesOfUnasked?.test(basename(file)))
    throw new UsageError(`The users in ${basename(file)} have not agreed to get messages. Import the file without --subscription.`)
  return {
    product,
    kind,
    file,
    url: values.url === undefined ? undefined : trimEndMatching(values.url, /^\/$/),
    key: values.key,
    id: values.id,
    types: typesOf(values.types),
    reason,
    isDryRun: values['dry-run'],
    template: { subscriptionId, name: values.name, subject: values.subject, locale: values.locale },
    target: {
      topics: topicsOf(values.topics),
      ...(subscriptionId !== undefined && { subscriptionId }),
      ...(listId !== undefined && { listId }),
    },
  }
}

const isOneOf = <const T extends string>(value: string, values: readonly T[]): value is T => (values as readonly string[]).includes(value)

function idOf(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new UsageError(`--${option} must be an id, such as 4.`)
  return Number(value)
}

function topicsOf(option: string): Record<string, number> {
  const pairs = option.split(',').filter((pair) => pair !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [topic = '', id = ''] = pair.split('=')
      if (topic === '' || !/^[1-9]\d{0,14}$/.test(id))
        throw new UsageError('--topics must be pairs of a topic and an id, such as topic_1=4.')
      return [topic, Number(id)]
    }),
  )
}

/** Imports a file. Prints what was done, and the rows that were refused. */
export async function importFrom(options: ImportOptions, call: Call, print: (line: string) => void): Promise<void> {
  const { kind, file, product, template } = options
  if (kind === 'template') for (const line of await importTemplate(file, product, template, call)) print(line)
  else if (kind === 'suppressions') await importSuppressions(options, call, print)
  else await importUsers(options, call, print)
}

async function importUsers(options: ImportOptions, call: Call, print: (line: string) => void): Promise<void> {
  const { file, target, isDryRun } = options
  const total: Counts = { users: 0, refused: 0, states: 0, suppressions: 0 }
  const report = (refusals: Refusal[]) => {
    total.refused += refusals.length
    for (const { number, message } of refusals) print(`Row ${number}: ${message}`)
  }
  const project = isDryRun ? undefined : ((await call('GET', '/api/client/projects/me')) as PhoneDefaults)
  let batch: Batch = []
  let bytes = 0
  const send = async () => {
    if (batch.length === 0) return
    const { counts, refusals } = isDryRun ? planned(batch, target) : await sendUsers(batch, { ...target, call })
    total.users += counts.users
    total.states += counts.states
    total.suppressions += counts.suppressions
    report(refusals)
    batch = []
    bytes = 0
  }
  for await (const { number, ...read } of rowsOf(file)) {
    const user = 'problem' in read ? read.problem : userOf(read.row, options, project)
    if (typeof user === 'string') {
      report([{ number, message: user }])
      continue
    }
    const size = bytesOf(user)
    if (batch.length === BATCH_ITEMS || bytes + size > BATCH_BYTES_MAX) await send()
    batch.push({ user, number })
    bytes += size
  }
  await send()
  print(
    `${isDryRun ? 'Would save' : 'Saved'} ${counted(total.users, 'user')}, ${counted(total.states, 'subscription state')} and ${counted(total.suppressions, 'suppressed address', 'suppressed addresses')}.`,
  )
  if (total.refused > 0) print(`Refused ${counted(total.refused, 'row')}.`)
}

/** A number with its noun. */
const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** What would be sent. The API checks most values only when they are. */
function planned(
  batch: { user: ExportedUser }[],
  { subscriptionId, topics }: Omit<Target, 'call'>,
): { counts: Counts; refusals: Refusal[] } {
  const states = batch.map(
    ({ user }) =>
      (subscriptionId !== undefined && user.isSubscribed !== undefined ? 1 : 0) +
      Object.keys(user.topics).filter((topic) => Object.hasOwn(topics, topic)).length,
  )
  const suppressions = batch.flatMap(({ user }) => suppressionsOf(user, { ...(subscriptionId !== undefined && { subscriptionId }) }))
  return {
    counts: { users: batch.length, refused: 0, states: states.reduce((sum, count) => sum + count, 0), suppressions: suppressions.length },
    refusals: [],
  }
}

/** The user of a row, or why there is none. */
function userOf(row: Row, { product, id: header, types }: ImportOptions, project: PhoneDefaults | undefined): ExportedUser | string {
  const id = (header === undefined ? product.ids : [header]).map((name) => textOf(row[name])).find((value) => value !== undefined)
  if (id === undefined) return `The row has no id in ${(header === undefined ? product.ids : [header]).join(' or ')}.`
  const exported = product.user(row, id)
  const result = converted(exported.user.data, types)
  if ('problem' in result) return result.problem
  const user = withAddresses({ ...exported, user: { ...exported.user, data: result.data } }, project)
  if (typeof user === 'string') return user
  // A request with it would be refused as a whole.
  return bytesOf(user) > BATCH_BYTES_MAX ? USER_TOO_LARGE : user
}

async function importSuppressions(options: ImportOptions, call: Call, print: (line: string) => void): Promise<void> {
  const { file, isDryRun } = options
  let [count, refused] = [0, 0]
  let batch: Suppression[] = []
  const send = async () => {
    count += isDryRun ? batch.length : await sendSuppressions(batch, { call })
    batch = []
  }
  for await (const { number, ...read } of rowsOf(file)) {
    const suppression = 'problem' in read ? read.problem : suppressionOf(read.row, options)
    if (typeof suppression !== 'string') batch.push(suppression)
    else {
      refused += 1
      print(`Row ${number}: ${suppression}`)
    }
    if (batch.length === BATCH_ITEMS) await send()
  }
  await send()
  print(`${isDryRun ? 'Would suppress' : 'Suppressed'} ${counted(count, 'address', 'addresses')}.`)
  if (refused > 0) print(`Refused ${counted(refused, 'row')}.`)
}

/** The suppressed address of a row, or why there is none. */
function suppressionOf(row: Row, options: ImportOptions): Suppression | string {
  const address = textOf(row.email ?? row['Email Address'] ?? row.Email)
  if (address === undefined) return 'The row has no address in the column `email`.'
  const problem = emailProblem(address)
  if (problem !== undefined) return problem
  const reason = options.reason ?? options.product.reason(row)
  return reason === undefined ? 'The row has no reason. Pass --reason.' : { channel: 'email', address, reason }
}
