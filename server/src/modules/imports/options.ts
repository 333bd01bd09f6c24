/** Reads the options of an import and checks them, as far as that is possible without the file. */
import { type Fault, fault, refuse } from '../../lib/errors.ts'
import type { SubscriptionId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import type { Mapping } from './columns.ts'
import type { Encoding } from './encoding.ts'
import type { ImportQuery } from './schema.ts'

export type ImportOptions = {
  mapping: Mapping
  /** Undefined: detected from the header line. */
  delimiter: string | undefined
  /** Undefined: detected from the bytes. */
  encoding: Encoding | undefined
  dryRun: boolean
  updateExisting: boolean
  consentSource: string | null
  filename: string | null
  subscriptionIds: SubscriptionId[]
}

/** The options of a request. Throws 400. */
export function optionsOf({
  mapping,
  delimiter = 'auto',
  encoding = 'auto',
  dry_run,
  update_existing,
  consent_source,
  subscription_ids,
  filename,
}: ImportQuery): ImportOptions {
  if (subscription_ids !== undefined && consent_source === undefined) {
    throw fault('parameter_missing', 'consent_source', 'With `subscription_ids`, give the source of the consent in `consent_source`.')
  }
  return {
    mapping: mapping === undefined ? {} : mappingOf(mapping),
    delimiter: delimiter === 'auto' ? undefined : delimiter === 'tab' ? '\t' : delimiter,
    encoding: encoding === 'auto' ? undefined : encoding,
    dryRun: dry_run === 'true',
    updateExisting: update_existing !== 'false',
    consentSource: consent_source ?? null,
    filename: filename ?? null,
    subscriptionIds: distinct(subscription_ids?.split(',').map(Number) ?? []) as SubscriptionId[],
  }
}

function mappingOf(text: string): Mapping {
  const mapping = parsed(text)
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping)) {
    throw fault(
      'parameter_invalid_format',
      'mapping',
      'The value of `mapping` must be a JSON object of headers, such as `{"Customer no":"external_id"}`.',
    )
  }
  refuse(
    Object.values(mapping).flatMap((field): Fault[] =>
      field === null || typeof field === 'string'
        ? []
        : [
            {
              code: 'parameter_invalid_format',
              param: 'mapping',
              message: 'In `mapping`, the value of each header must be a string or null.',
            },
          ],
    ),
  )
  return mapping as Mapping
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
