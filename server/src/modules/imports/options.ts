/** What a caller said beside the file, read and checked as far as that goes without the file. */
import { type Fault, fault, refuse } from '../../lib/errors.ts'
import type { SubscriptionId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import type { Mapping } from './columns.ts'
import type { ImportQuery } from './schema.ts'

export type ImportOptions = {
  mapping: Mapping
  /** Absent: the header line says. */
  delimiter: string | undefined
  dryRun: boolean
  updateExisting: boolean
  consentSource: string | null
  subscriptionIds: SubscriptionId[]
}

/** The options of a request. Throws 400. */
export function optionsOf({
  mapping,
  delimiter = 'auto',
  dry_run,
  update_existing,
  consent_source,
  subscription_ids,
}: ImportQuery): ImportOptions {
  if (subscription_ids !== undefined && consent_source === undefined) {
    throw fault(
      'parameter_missing',
      'consent_source',
      'Say in `consent_source` where the people of the file agreed to what `subscription_ids` names.',
    )
  }
  return {
    mapping: mapping === undefined ? {} : mappingOf(mapping),
    delimiter: delimiter === 'auto' ? undefined : delimiter === 'tab' ? '\t' : delimiter,
    dryRun: dry_run === 'true',
    updateExisting: update_existing !== 'false',
    consentSource: consent_source ?? null,
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
        : [{ code: 'parameter_invalid_format', param: 'mapping', message: 'In `mapping`, each header must lead to a string or to null.' }],
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
