import type { SendingDomain } from '../domains/index.ts'

/** Why marketing is not sent from a domain, and what to do. */
export const unverifiedSender = (fromDomain: string, sender: SendingDomain | undefined): string =>
  sender === undefined
    ? `\`${fromDomain}\` is not a domain of this project. Add it as \`sending_domain\` with \`POST /domains\`, publish its records and verify it.`
    : `The domain \`${sender.domain}\` is not verified for emails from \`${fromDomain}\`. Publish its \`records\` and verify it.`
