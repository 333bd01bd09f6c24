import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matches } from '../../lib/validate.ts'
import { LOCALES } from './generate/locales.ts'
import {
  COMMERCE_METHODS,
  CommerceReply,
  ContactReply,
  FOOD_METHODS,
  FoodReply,
  LOREM_METHODS,
  LoremReply,
  PhoneReply,
  SentimentReply,
  SpfReply,
  TcpReply,
} from './schema.ts'
import { scoreSentiment } from './sentiment.ts'
import {
  analyseSentiment,
  checkSpf,
  generateCommerce,
  generateContacts,
  generateFood,
  generateLorem,
  validateMobile,
  verifyTcp,
} from './service.ts'

const inThread = { scoreInThread: async (text: string) => scoreSentiment(text) }
const outside = { elapsed: () => 1.6, randomSeed: () => 4_294_967_295 }

describe('a generator', () => {
  test('describes what it generated', async () => {
    const reply = await generateLorem({ method: 'word', count: '1', seed: '12345' }, outside)
    expect(reply).toEqual({
      status: 'success',
      data: {
        lorem: [{ method: 'word', value: expect.any(String), word: expect.any(String), strategy: 'any-length' }],
        generated: 1,
        locale: 'en',
        seed: 12345,
        method: 'word',
      },
      performance: { generationTime: 2, itemsGenerated: 1, locale: 'en' },
    })
  })

  test('generates ten profiles in English from a random seed by default', async () => {
    const data = { generated: 10, locale: 'en', seed: 4_294_967_295, method: 'profile' }
    expect((await generateLorem({}, outside)).data).toMatchObject(data)
    expect((await generateCommerce({}, outside)).data).toMatchObject(data)
    expect((await generateFood({}, outside)).data).toMatchObject(data)
    expect((await generateContacts({}, outside)).data).toMatchObject({ ...data, seed: '4294967295' })
  })

  test('replies with the documented schema', async () => {
    expect(matches(LoremReply)(await generateLorem({ wordLength: '3' }, outside))).toBeNull()
    expect(matches(CommerceReply)(await generateCommerce({}, outside))).toBeNull()
    expect(matches(FoodReply)(await generateFood({}, outside))).toBeNull()
    expect(matches(ContactReply)(await generateContacts({}, outside))).toBeNull()
  })

  test('returns the canonical code of the locale', async () => {
    const { data, performance } = await generateFood({ locale: 'PT-br' }, outside)
    expect([data.locale, performance.locale]).toEqual(['pt_BR', 'pt_BR'])
  })

  test('returns a text seed unchanged, and for contacts every seed as text', async () => {
    expect((await generateFood({ seed: '007' }, outside)).data.seed).toBe('007')
    expect((await generateContacts({ seed: '7' }, outside)).data.seed).toBe('7')
  })

  test('gives the same records for the random seed that it returned', async () => {
    const first = await generateFood({}, outside)
    expect((await generateFood({ seed: `${first.data.seed}` }, outside)).data.foods).toEqual(first.data.foods)
  })

  test.each([
    ['abc', 'xyz'],
    ['abc', 'abd'],
    ['7', '007'],
    ['42', '42 '],
  ])('gives different records for the seeds %o and %o', async (one, other) => {
    const foods = async (seed: string) => (await generateFood({ seed }, outside)).data.foods
    expect(await foods(one)).not.toEqual(await foods(other))
  })

  test('gives the same records for the same seed, and only adds to them for a larger count', async () => {
    const asked = fc.record({
      seed: fc.string({ minLength: 1, maxLength: 20 }),
      locale: fc.constantFrom(...LOCALES),
      small: fc.integer({ min: 1, max: 8 }),
      large: fc.integer({ min: 8, max: 30 }),
      lorem: fc.constantFrom(...LOREM_METHODS),
      commerce: fc.constantFrom(...COMMERCE_METHODS),
      food: fc.constantFrom(...FOOD_METHODS),
    })
    await fc.assert(
      fc.asyncProperty(asked, async ({ seed, locale, small, large, lorem, commerce, food }) => {
        const records = async (count: string) => [
          (await generateLorem({ seed, locale, count, method: lorem }, outside)).data.lorem,
          (await generateCommerce({ seed, locale, count, method: commerce }, outside)).data.commerce,
          (await generateFood({ seed, locale, count, method: food }, outside)).data.foods,
          (await generateContacts({ seed, locale, count }, outside)).data.contacts,
        ]
        const few = await records(`${small}`)
        const many = await records(`${large}`)
        expect(await records(`${large}`)).toEqual(many)
        expect(many.map((list) => list.length)).toEqual([large, large, large, large])
        expect(many.map((list) => list.slice(0, small))).toEqual(few)
      }),
      { numRuns: 40 },
    )
  })
})

describe('a check', () => {
  test('of sentiment and phones replies with the documented schema', async () => {
    expect(matches(SentimentReply)(await analyseSentiment({ text: 'not good 😀' }, inThread))).toBeNull()
    expect(matches(PhoneReply)(await validateMobile({ phone: '+61412345678' }))).toBeNull()
    expect(matches(PhoneReply)(await validateMobile({ phone: '1' }))).toBeNull()
  })

  test('of the sentiment of a long text is left to a thread, and that of a short one is not', async () => {
    const given: number[] = []
    const outside = {
      scoreInThread: (text: string) => {
        given.push(text.length)
        return inThread.scoreInThread(text)
      },
    }
    for (const length of [1, 5000, 5001, 100_000]) {
      const text = 'no '.repeat(33_334).slice(0, length)
      expect((await analyseSentiment({ text }, outside)).data).toEqual(scoreSentiment(text))
    }
    expect(given).toEqual([5001, 100_000])
  })

  test('of SPF has a limit of eight seconds', async () => {
    const deadlines: number[] = []
    const nothing = async () => []
    const reply = await checkSpf(
      { domain: 'example.com' },
      {
        resolver: { resolveTxt: async () => [['v=spf1 -all']], resolve4: nothing, resolve6: nothing, resolveMx: nothing },
        deadline: (ms) => {
          deadlines.push(ms)
          return new AbortController().signal
        },
      },
    )
    expect(deadlines).toEqual([8000])
    expect(matches(SpfReply)(reply)).toBeNull()
    expect(reply.data.record).toBe('v=spf1 -all')
  })

  test('of a TCP port returns the result of the attempt', async () => {
    const dialled: unknown[] = []
    const tcpCheck = async (host: string, port: number) => {
      dialled.push([host, port])
      return 'refused' as const
    }
    const reply = await verifyTcp({ domain_ip: '[::1]', port: '25' }, { tcpCheck })
    expect(dialled).toEqual([['[::1]', 25]])
    expect(reply).toEqual({ status: 'success', data: { connection: 'refused' } })
    expect(matches(TcpReply)(reply)).toBeNull()
  })
})
