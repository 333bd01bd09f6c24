import type { ContactRecord } from '../schema.ts'
import type { Fakers } from './locales.ts'

const E164 = /^\+[1-9]\d{6,14}$/

/** One made-up person. The address is at a domain reserved for examples (RFC 2606), so that no stranger is ever written to. */
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
    // Through the parser, because some locales end their host names in their own script.
    website: new URL(faker.internet.url({ protocol: 'https', appendSlash: false })).origin,
  }
}

// One locale's international format starts with a zero.
function phone({ faker, english }: Fakers): string {
  const number = faker.phone.number({ style: 'international' })
  return E164.test(number) ? number : english.phone.number({ style: 'international' })
}
