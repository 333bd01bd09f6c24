/** What the server says for people is complete in each of its languages (D-CON-37). */
import { describe, expect, test } from 'vitest'
import { providerKinds } from '../../src/modules/channels/configure.ts'
import { german as providerTexts } from '../../src/modules/channels/german.ts'
import { german as journeyTexts } from '../../src/modules/journeys/german.ts'
import { journeyMeta } from '../../src/modules/journeys/meta.ts'
import { german as ruleTexts } from '../../src/modules/rules/german.ts'
import { ruleMeta } from '../../src/modules/rules/meta.ts'

/** Names, and words that are the same in both languages. */
const SAME = new Set(
  `Journey Region Domain Port HTTP SMTP Mailgun MessageBird Carillon Plivo Postmark Resend SendGrid Telnyx Twilio Vonage
  Firebase_Cloud_Messaging Amazon_SES`
    .split(/\s+/)
    .map((name) => name.replaceAll('_', ' ')),
)

const TEXTS = ['label', 'description', 'title', 'sentence']
const DATA = ['example', 'examples', 'default', 'const', 'enum']

type Found = { at: string; english: string; german: string }

/** The texts of a reply in both languages, in the same places. */
function pairs(english: unknown, german: unknown, at = ''): Found[] {
  if (english === null || typeof english !== 'object') return []
  return Object.entries(english).flatMap(([name, member]) => {
    const other = (german as Record<string, unknown>)[name]
    if (DATA.includes(name)) return []
    if (typeof member === 'string' && TEXTS.includes(name)) return [{ at: `${at}.${name}`, english: member, german: String(other) }]
    return pairs(member, other, `${at}.${name}`)
  })
}

describe.each([
  ['rules', ruleMeta('en'), ruleMeta('de'), ruleTexts],
  ['journeys', journeyMeta('en'), journeyMeta('de'), journeyTexts],
  ['providers', providerKinds('en'), providerKinds('de'), providerTexts],
] as const)('the texts of %s', (_, english, german, table) => {
  const found = pairs(english, german)

  test('are all in German', () => {
    expect(found.length).toBeGreaterThan(30)
    const isSame = ({ english }: Found) => SAME.has(english) || (table as Record<string, string>)[english] === english
    expect(found.filter((text) => text.english === text.german && !isSame(text)).map(({ english }) => english)).toEqual([])
  })

  test('have no German for what is not said', () => {
    const said = new Set(found.map(({ english }) => english))
    expect(Object.keys(table).filter((text) => !said.has(text))).toEqual([])
  })

  test('keep the names in backquotes', () => {
    const names = (text: string) => [...new Set(text.match(/`[^`]+`/g))].sort()
    const lost = found.filter((text) => names(text.english).some((name) => !text.german.includes(name) && !name.includes('hello@')))
    expect(lost.map(({ english }) => english)).toEqual([])
  })
})
