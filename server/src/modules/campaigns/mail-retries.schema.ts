import { Type } from 'typebox'
import type { MailRetries as Retries } from '../../lib/mail-retries.ts'
import { Exact } from '../../lib/shapes.ts'

const RETRIES_MAX = 20
const RETRY_AFTER_MAX_MIN = 1440
const RETRIED_MAX_H = 120

/** When the email of a campaign is tried again (D-MTA-35). */
export const MailRetries = Type.Unsafe<Retries>(
  Exact(
    {
      after_minutes: Type.Array(Type.Integer({ minimum: 1, maximum: RETRY_AFTER_MAX_MIN }), {
        minItems: 1,
        maxItems: RETRIES_MAX,
        description: 'Minutes between attempts, in order. The last value repeats.',
      }),
      for_hours: Type.Integer({
        minimum: 1,
        maximum: RETRIED_MAX_H,
        description: 'Hours for which delivery is retried, unless the deadline of the message is earlier.',
      }),
    },
    {
      description:
        'How email is retried after a mail host or a relay defers it. Without this setting, email of blasts is retried for 24 hours and other email for 48. The deadline of the message (`expires_after_hours`) can be earlier: by default, it is an hour for transactional types. Applies only to email, and only to messages sent after the change.',
    },
  ),
)
