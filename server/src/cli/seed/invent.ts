/** The invented data of `carillon seed`: customers of a shop, and what they did in the last weeks. The same seed invents the same. */
import { en, Faker } from '@faker-js/faker'
import { DAY_MS } from '../../lib/times.ts'

const DAYS = 60
const PLANS = ['free', 'free', 'free', 'pro', 'pro', 'team']
const LOCALES = ['en', 'en', 'en', 'de', 'fr']
const PURCHASES_MAX = 6
const VISITS_MAX = 8

export type InventedUser = { external_id: string; email: string; locale: string; data: Record<string, unknown> }
export type InventedEvent = { event_id: string; external_id: string; name: string; created_at: string; data: Record<string, unknown> }

/** Invents users with their events. Events are before `today`, the start of a day. Addresses are of example.com, which gets no email. */
export function invent(count: number, seed: number, today: Date): { users: InventedUser[]; events: InventedEvent[] } {
  const faker = new Faker({ locale: [en], seed })
  const users: InventedUser[] = []
  const events: InventedEvent[] = []
  for (let number = 1; number <= count; number++) {
    const external_id = `seed-${seed}-${number}`
    const first = faker.person.firstName()
    const last = faker.person.lastName()
    const daysAgo = faker.number.int({ min: 1, max: DAYS })
    const plan = faker.helpers.arrayElement(PLANS)
    const email = `${faker.helpers.slugify(`${first}.${last}`).toLowerCase()}.${number}@example.com`
    const data = { name: first, last_name: last, city: faker.location.city(), plan, company: faker.company.name() }
    users.push({ external_id, email, locale: faker.helpers.arrayElement(LOCALES), data })
    for (const { name, at, data } of doneBy(faker, plan, daysAgo))
      events.push({
        event_id: `${external_id}-${events.length}`,
        external_id,
        name,
        created_at: new Date(today.getTime() - Math.round(at * DAY_MS)).toISOString(),
        data,
      })
  }
  return { users, events }
}

type Done = { name: string; at: number; data: Record<string, unknown> }

/** What a user did since the sign-up. Times are days before today. */
function doneBy(faker: Faker, plan: string, signedUpAt: number): Done[] {
  const since = () => faker.number.float({ min: 0, max: signedUpAt })
  const visits = Array.from({ length: faker.number.int({ min: 0, max: VISITS_MAX }) }, () => ({
    name: 'product_viewed',
    at: since(),
    data: { product: faker.commerce.productName(), price: Number(faker.commerce.price({ max: 200 })) },
  }))
  const purchases = Array.from({ length: faker.number.int({ min: 0, max: plan === 'free' ? 1 : PURCHASES_MAX }) }, () => ({
    name: 'purchase',
    at: since(),
    data: { product: faker.commerce.productName(), total: Number(faker.commerce.price({ max: 300 })), currency: 'AUD' },
  }))
  return [
    { name: 'signed_up', at: signedUpAt, data: { source: faker.helpers.arrayElement(['search', 'friend', 'advert']) } },
    ...visits,
    ...purchases,
  ]
}
