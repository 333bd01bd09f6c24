import type { Fault } from '../../lib/errors.ts'
import { attemptsIn, MAIL_ATTEMPTS_MAX } from '../../lib/mail-retries.ts'
import type { CampaignFields, CampaignRow } from './schema.ts'

/** Faults of the retries that a campaign would have after a write. */
export function retryFaults({ channel }: Pick<CampaignRow, 'channel'>, { mail_retries }: Pick<CampaignFields, 'mail_retries'>): Fault[] {
  if (mail_retries === null) return []
  const param = 'mail_retries'
  if (channel !== 'email') return [{ code: 'validation_failed', param, message: `Only email campaigns can have \`${param}\`. Omit it.` }]
  if (attemptsIn(mail_retries) <= MAIL_ATTEMPTS_MAX) return []
  const message = `With these \`${param}\`, an email could be attempted more than ${MAIL_ATTEMPTS_MAX} times. Give longer intervals (the last one repeats), or fewer hours.`
  return [{ code: 'validation_failed', param, message }]
}
