/** Normalises addresses and hashes them for lookups. Pure. */
import { createHmac, type KeyObject } from 'node:crypto'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { type Addressed, type AddressKind, addressKindOf, addressOf, type Channel, hasAddresses } from '../../../lib/channels.ts'
import { isEmail } from '../../../lib/email.ts'
import type { Fault } from '../../../lib/errors.ts'
import { normalisePhone, type PhoneDefaults, phoneRegions } from '../../../lib/phone.ts'
import { trimWhiteSpace } from '../../../lib/text.ts'
import type { SuppressionInputs } from './schema.ts'

/** How addresses of a kind are compared and checked. */
type Kind = {
  /** The form in which addresses are compared. */
  normalise(text: string, project: PhoneDefaults): string
  isAddress(text: string, project: PhoneDefaults): boolean
  /** The expected form, for error messages. */
  expected: string
}

const readPhone = (text: string, project: PhoneDefaults) => normalisePhone(text, phoneRegions({}, project))

const KINDS: Record<AddressKind, Kind> = {
  email: {
    // All in lower case: the rare server that distinguishes `Kim@` from `kim@` is not worth writing to a user who unsubscribed.
    normalise: (text) => text.toLowerCase(),
    isAddress: isEmail,
    expected: 'an email address, such as `kim@example.com`',
  },
  phone: {
    // A number that cannot be parsed is compared as it is.
    normalise: (text, project) => readPhone(text, project) ?? text,
    isAddress: (text, project) => readPhone(text, project) !== null,
    expected: 'a phone number, such as `+61412345678`',
  },
}

const addressKind = (channel: Addressed): Kind => KINDS[addressKindOf(channel)]

/** The form in which addresses of a channel are compared. */
export const normalised = (channel: Addressed, address: string, project: PhoneDefaults): string =>
  addressKind(channel).normalise(trimWhiteSpace(address), project)

/** The normalised address of a user on a channel; null without one, and on channels without addresses. */
export function normalisedOf(
  { project }: Pick<ProjectCtx, 'project'>,
  channel: Channel,
  user: Record<AddressKind, string | null>,
): string | null {
  if (!hasAddresses(channel)) return null
  const address = addressOf(channel, user)
  return address === null ? null : normalised(channel, address, project)
}

/** The hash of a normalised address, with the key of the project. */
export const hashOf = (key: KeyObject, address: string): string => createHmac('sha256', key).update(address).digest('base64url')

/** The addresses that are not ones of their channel. */
export const addressFaults = (ctx: ProjectCtx, inputs: SuppressionInputs): Fault[] =>
  inputs.flatMap(({ channel, address }, at): Fault[] => {
    const { isAddress, expected } = addressKind(channel)
    if (isAddress(address, ctx.project)) return []
    const param = `[${at}].address`
    return [{ code: 'parameter_invalid_format', param, message: `The value of \`${param}\` must be ${expected}.` }]
  })
