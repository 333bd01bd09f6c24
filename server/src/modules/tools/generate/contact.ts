import type { ContactRecord } from '../schema.ts'
import type { Fakers } from './locales.ts'

const E164 = /^\+[1-9]\d{6,14}$/

/** Generates a contact. The email address is at a domain reserved for examples (RFC 2606), so that no email reaches a real mailbox. */
export function contactRecord(fakers: Fakers): ContactRecord {
  const { faker } = fakers
  const firstName = faker.person.firstName()
  const lastName = faker.person.lastName()
  return {
    id: faker.string.uuid(),
    name: faker.person.fullName({ firstName, lastName }),
    email: faker.internet.exampleEmail({ firstName, lastName }),
    phone: phone(fakers),
    company: faker.company.name(),
    // The URL parser turns host names in other scripts into ASCII.
    website: new URL(faker.internet.url({ protocol: 'https', appendSlash: false })).origin,
  }
}

// In one locale, the international format starts with a zero.
function phone({ faker, english }: Fakers): string {
  const number = faker.phone.number({ style: 'international' })
  return E164.test(number) ? number : english.phone.number({ style: 'international' })
}
