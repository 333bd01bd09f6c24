/** The eight utilities, each from a validated form to the reply. */
import { commerceRecord, commerceSettings } from './generate/commerce.ts'
import { contactRecord } from './generate/contact.ts'
import { foodRecord } from './generate/food.ts'
import { canonicalLocale, type Fakers, type LocaleCode, openFakers } from './generate/locales.ts'
import { loremRecord, loremSettings } from './generate/lorem.ts'
import { echoSeed, numericSeed } from './generate/seed.ts'
import { checkMobile } from './phone-mobile.ts'
import type {
  CommerceForm,
  CommerceReply,
  Connection,
  ContactForm,
  ContactReply,
  FoodForm,
  FoodReply,
  LoremForm,
  LoremReply,
  PhoneForm,
  PhoneReply,
  SentimentForm,
  SentimentReply,
  SpfForm,
  SpfReply,
  TcpForm,
  TcpReply,
} from './schema.ts'
import { scoreSentiment } from './sentiment.ts'
import { lookUpSpf, type SpfResolver } from './spf-lookup.ts'

/** The external dependencies of the utilities. */
export type Outside = {
  resolver: SpfResolver
  /** Tries to connect, within the egress policy and 10 seconds (D-TCP-2, D-TCP-3). */
  tcpCheck(host: string, port: number): Promise<Connection>
  /** A signal that aborts after `ms` milliseconds. */
  deadline(ms: number): AbortSignal
  /** Milliseconds since the start of the request. */
  elapsed(): number
  /** A random unsigned 32-bit number, for requests without a seed. */
  randomSeed(): number
}

export type Scoring = {
  /** Scores a text without keeping other requests waiting. */
  scoreInThread(text: string): Promise<SentimentReply['data']>
}

type Generating = Pick<Outside, 'elapsed' | 'randomSeed'>

const SPF_TIMEOUT_MS = 8000

export async function generateLorem(form: LoremForm, outside: Generating): Promise<LoremReply> {
  const { method = 'profile' } = form
  const settings = loremSettings(form)
  const batch = await generate(form, outside, (fakers) => loremRecord(fakers, method, settings))
  return {
    status: 'success',
    data: { lorem: batch.records, ...echoes(batch), method },
    performance: performanceOf(batch, outside),
  }
}

export async function generateCommerce(form: CommerceForm, outside: Generating): Promise<CommerceReply> {
  const { method = 'profile' } = form
  const settings = commerceSettings(form)
  const batch = await generate(form, outside, (fakers) => commerceRecord(fakers, method, settings))
  return {
    status: 'success',
    data: { commerce: batch.records, ...echoes(batch), method },
    performance: performanceOf(batch, outside),
  }
}

export async function generateFood(form: FoodForm, outside: Generating): Promise<FoodReply> {
  const { method = 'profile' } = form
  const batch = await generate(form, outside, (fakers) => foodRecord(fakers, method))
  return {
    status: 'success',
    data: { foods: batch.records, ...echoes(batch), method },
    performance: performanceOf(batch, outside),
  }
}

export async function generateContacts(form: ContactForm, outside: Generating): Promise<ContactReply> {
  const batch = await generate(form, outside, contactRecord)
  return { status: 'success', data: { contacts: batch.records, ...echoes(batch), seed: batch.seed, method: 'profile' } }
}

type Batch<R> = { records: R[]; locale: LocaleCode; seed: string }

const COUNT_DEFAULT = 10

/** Generates records one after another from one seed, so that a larger count only adds to them (D-GEN-4). */
async function generate<R>(form: ContactForm, outside: Generating, make: (fakers: Fakers) => R): Promise<Batch<R>> {
  const locale = canonicalLocale(form.locale ?? 'en')
  const seed = form.seed ?? `${outside.randomSeed()}`
  const fakers = await openFakers(locale, numericSeed(seed))
  return { records: Array.from({ length: Number(form.count ?? COUNT_DEFAULT) }, () => make(fakers)), locale, seed }
}

const echoes = ({ records, locale, seed }: Batch<unknown>) => ({ generated: records.length, locale, seed: echoSeed(seed) })

const performanceOf = ({ records, locale }: Batch<unknown>, outside: Generating) => ({
  generationTime: Math.round(outside.elapsed()),
  itemsGenerated: records.length,
  locale,
})

/** Longer texts are scored by a thread: one of 100,000 characters takes up to 100 milliseconds. */
const SCORED_AT_ONCE_LENGTH_MAX = 5000

export async function analyseSentiment({ text }: SentimentForm, { scoreInThread }: Scoring): Promise<SentimentReply> {
  return { status: 'success', data: text.length > SCORED_AT_ONCE_LENGTH_MAX ? await scoreInThread(text) : scoreSentiment(text) }
}

export async function validateMobile({ phone }: PhoneForm): Promise<PhoneReply> {
  return { status: 'success', data: checkMobile(phone) }
}

export async function checkSpf({ domain }: SpfForm, outside: Pick<Outside, 'resolver' | 'deadline'>): Promise<SpfReply> {
  return { status: 'success', data: await lookUpSpf(domain, outside.resolver, outside.deadline(SPF_TIMEOUT_MS)) }
}

export async function verifyTcp({ domain_ip, port }: TcpForm, outside: Pick<Outside, 'tcpCheck'>): Promise<TcpReply> {
  return { status: 'success', data: { connection: await outside.tcpCheck(domain_ip, Number(port)) } }
}
