/** Checks messages that requests ask for, as far as that is possible without the database. Pure. */
import { type Fault, faultAt } from '../../../lib/errors.ts'
import { DAY_MS, parseTime } from '../../../lib/times.ts'
import { checker, ITEM_ERRORS_MAX } from '../../../lib/validate.ts'
import { pathsWithoutValue } from '../../messages/index.ts'
import { ATTACHMENT_BYTES_MAX, attachmentFaults } from '../../templates/index.ts'
import { pathFaults } from '../../users/index.ts'
import { MessageInput } from './schema.ts'

const checkShape = checker(MessageInput, { errorsMax: ITEM_ERRORS_MAX })

const AHEAD_MAX_DAYS = 365

/** Checks an item of a batch. */
export function checkMessage(item: unknown, now: Date): { input: MessageInput } | { faults: Fault[] } {
  const { faults, value } = checkShape(item)
  const all = faults.length > 0 ? faults : messageFaults(value, now)
  return all.length > 0 ? { faults: all } : { input: value }
}

/** The faults of a message whose shape was checked. */
export const messageFaults = (input: MessageInput, now: Date): Fault[] => [
  ...sourceFaults(input),
  ...userFaults(input),
  ...redactFaults(input),
  ...timeFaults(input, now),
  ...headerFaults(input),
  ...fileFaults(input),
]

function sourceFaults({ campaign, campaign_id, content, subscription_id }: MessageInput): Fault[] {
  const given = Object.entries({ campaign, campaign_id, content }).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const [, second] = given
  if (given.length === 0)
    return [{ code: 'parameter_missing', param: 'campaign', message: 'One of `campaign`, `campaign_id`, `content` is required.' }]
  if (second !== undefined)
    return [wrong(second, `Give only one of \`campaign\`, \`campaign_id\` and \`content\`. This request has \`${given.join('` and `')}\`.`)]
  if (content !== undefined && subscription_id === undefined)
    return [{ code: 'parameter_missing', param: 'subscription_id', message: 'A message with `content` needs `subscription_id`.' }]
  if (content === undefined && subscription_id !== undefined)
    return [wrong('subscription_id', 'The campaign already has a subscription type. Omit `subscription_id`.')]
  return []
}

function userFaults({ user }: MessageInput): Fault[] {
  const paths = pathFaults(user).map((fault) => faultAt(fault, `user.${fault.param}`))
  if (typeof user.external_id === 'string' || typeof user.anonymous_id === 'string') return paths
  return [
    { code: 'parameter_missing', param: 'user.external_id', message: 'One of `user.external_id`, `user.anonymous_id` is required.' },
    ...paths,
  ]
}

/** A path with a mistake would leave the value where it was to be kept out. */
const redactFaults = ({ redact = [], data = {} }: MessageInput): Fault[] =>
  pathsWithoutValue(data, redact).map((path) => {
    const param = `redact[${redact.indexOf(path)}]`
    return wrong(param, `The value of \`${param}\` is not the path of a value in \`data\`, such as \`data.link\`.`)
  })

function timeFaults({ send_at }: MessageInput, now: Date): Fault[] {
  const at = send_at === undefined ? null : parseTime(send_at)
  if (at === null || at.getTime() <= now.getTime() + AHEAD_MAX_DAYS * DAY_MS) return []
  return [wrong('send_at', `The value of \`send_at\` may be at most ${AHEAD_MAX_DAYS} days ahead.`)]
}

const HEADERS = ['references', 'in-reply-to', 'auto-submitted', 'precedence', 'list-id', 'feedback-id', 'importance']
const OWN_HEADER = /^x-[a-z0-9-]{1,60}$/
/** Headers that control a provider, such as its tracking. A request must not set them. */
const OF_PROVIDERS = /^x-(?:smtpapi|ses-|mc-|mj-|mailgun-|mailin-|sib-|pm-|sg-|postmark|resend-|msys-|mailer$)/

/** Why a header cannot be set, or null. */
function headerProblem(name: string): string | null {
  if (HEADERS.includes(name)) return null
  if (OF_PROVIDERS.test(name)) return 'This header tells an email provider how to send, so it cannot be set. Use another name.'
  return OWN_HEADER.test(name)
    ? null
    : 'This header cannot be set. Use a name that begins with `X-`, followed by at most 60 letters, digits and hyphens.'
}

function headerFaults({ headers = {} }: MessageInput): Fault[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  return Object.keys(headers).flatMap((name, at) => {
    const param = `headers.${name.slice(0, NAME_LENGTH_MAX)}`
    const lower = name.toLowerCase()
    const problem = headerProblem(lower)
    if (problem !== null) return [wrong(param, problem)]
    return names.indexOf(lower) < at ? [wrong(param, `The header \`${lower}\` is given twice. The case of its name has no meaning.`)] : []
  })
}

const NAME_LENGTH_MAX = 100

function fileFaults({ attachments = [] }: MessageInput): Fault[] {
  const faults = attachments.flatMap((file, at) => attachmentFaults(file, `attachments[${at}].`))
  const bytes = attachments.reduce((sum, { content }) => sum + Buffer.byteLength(content, 'base64'), 0)
  return bytes > ATTACHMENT_BYTES_MAX
    ? [...faults, wrong('attachments', `The files may have at most ${ATTACHMENT_BYTES_MAX} bytes in total.`)]
    : faults
}

const wrong = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })
