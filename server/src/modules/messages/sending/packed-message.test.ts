import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../../infra/runtime/secrets.ts'
import { createPacker, shareBytes } from '../../../infra/threads/packed.ts'
import { bodyHashOf } from '../../../lib/dkim/canonical.ts'
import type { MessageId, ProjectId } from '../../../lib/ids.ts'
import { emailOf } from '../../channels/mail.ts'
import { tooLarge } from '../../channels/mail-size.ts'
import { composedOf } from '../../channels/mail-source.ts'
import { messageKey } from '../message-key.ts'
import { packMessage, unpackMessage } from './packed-message.ts'
import type { Composing } from './render.ts'

const secrets = createSecrets([`test:${Buffer.alloc(32, 7).toString('base64')}`])
const now = new Date('2026-11-23T09:00:00.000Z')
const [id, projectId] = [7 as MessageId, 1 as ProjectId]

/** A message after its way from the thread. */
function sent(content: Record<string, unknown>, composing?: Composing, headers: Record<string, string> = {}) {
  const packer = createPacker()
  const rendered = { channel: 'email' as const, recipient: 'kim@example.org', summary: 'Hi', content }
  const packed = packMessage({ secrets, pack: packer.pack }, { rendered, headers }, { id, projectId, now, composing })
  const bytes = packer.take()
  return unpackMessage(structuredClone(packed), bytes ? shareBytes(bytes, 1)[0] : undefined)
}

const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))
const long = fc.tuple(text, fc.nat({ max: 3000 })).map(([one, times]) => one.repeat(Math.ceil(times / (one.length || 1))))

describe('a rendered message', () => {
  test('has the same content as before, in the same order, however long its texts are', () => {
    fc.assert(
      fc.property(long, long, (html, body) => {
        const content = { from: 'app@example.com', to: 'kim@example.org', html, text: body, count: 3 }
        const { rendered, mail } = sent(content)
        expect(mail).toBeUndefined()
        expect(JSON.stringify(rendered.content)).toBe(JSON.stringify(content))
        expect({ ...rendered.content }).toEqual(content)
        expect(rendered.content.html).toBe(html)
      }),
    )
  })

  test('has its texts read to be measured only for a provider with a limit', () => {
    const { rendered } = sent({ to: 'kim@example.org', html: 'x'.repeat(2000) })
    const isUnread = () => Object.getOwnPropertyDescriptor(rendered.content, 'html')?.get !== undefined
    expect(tooLarge({ label: 'Own' }, rendered)).toBeNull()
    expect(isUnread()).toBe(true)
    expect(tooLarge({ label: 'Own', mailBytesMax: 1000 }, rendered)).toMatchObject({ code: 'too_large' })
  })
})

describe('an email that was composed in the thread', () => {
  const composing = { created_at: now, defaultFrom: 'Shop <shop@example.com>', headers: { 'X-Own': 'b' } }
  const key = messageKey({ secrets }, { project_id: projectId, id, created_at: now })

  test('is the same byte for byte as one that its provider composes', () => {
    fc.assert(
      fc.property(
        long,
        long,
        text,
        fc.constantFrom(undefined, 'app@example.com', '"A, B" <b@example.com>'),
        (html, body, subject, from) => {
          const content = { ...(from && { from }), to: 'kim@example.org', subject, html, text: body }
          const { mail } = sent(content, composing, { 'X-Own': 'a', 'X-Other': 'c' })
          const headers = { 'X-Own': 'b', 'X-Other': 'c' }
          const email = emailOf({ content, headers }, { default_from: composing.defaultFrom })
          expect(mail).toEqual('is' in email ? email : composedOf(email, key, now))
        },
      ),
    )
  })

  test('has the hash of its body if it is to be signed', () => {
    fc.assert(
      fc.property(long, long, (html, body) => {
        const { mail } = sent({ to: 'kim@example.org', subject: 'Hi', html, text: body }, { ...composing, hashesBody: true })
        const source = Buffer.from(mail?.content ?? '')
        expect(mail?.bodyHash).toBe(bodyHashOf(source.subarray(source.indexOf('\r\n\r\n') + 4)))
      }),
    )
  })

  test('comes from the domain of its campaign, if its template has no sender', () => {
    const content = { to: 'kim@example.org', subject: 'Hi', html: '<p>Hi</p>', text: 'Hi' }
    const { mail } = sent(content, { ...composing, fromDomain: 'mail.example.net' })
    expect(mail?.envelope.from).toBe('shop@mail.example.net')
  })

  test.each([
    ['no sender', { ...composing, defaultFrom: '' }],
    ['a header that no email can have', { ...composing, headers: { 'X Own': 'b' } }],
  ])('is left to its provider, which says why it cannot be sent: %s', (_, composing) => {
    const { mail, rendered } = sent({ to: 'kim@example.org', subject: 'Hi', html: '<p>Hi</p>', text: 'Hi' }, composing)
    expect(mail).toBeUndefined()
    expect(rendered.content.html).toBe('<p>Hi</p>')
  })
})
