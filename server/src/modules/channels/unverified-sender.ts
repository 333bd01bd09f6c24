import type { SendingDomain } from '../domains/index.ts'

/** Why marketing is not sent from a domain, and what to do. */
export const unverifiedSender = (fromDomain: string, sender: SendingDomain | undefined): string =>
  sender === undefined
    ? `\`${fromDomain}\` is not a domain of this project. Add it as \`sending_domain\` with \`POST /domains\`, publish its records and verify it.`
    : `The domain \`${sender.domain}\` is not verified for emails from \`${fromDomain}\`. ${
        sender.has_records
          ? `Its records were found, but DMARC accepts neither its signature nor the return path for that address. Add \`${fromDomain}\` as a \`sending_domain\`; if the provider has a \`return_domain\`, you can remove that instead.`
          : 'Publish its `records` and verify it.'
      }`
