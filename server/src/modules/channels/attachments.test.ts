/**
 * Files over the HTTP APIs of email providers: each sends an attachment and an inline image, and the request has the members that the
 * documentation of the provider names (as of November 2026).
 */
import { afterAll, expect, test } from 'vitest'
import { openFakeProvider } from '../../../test/fake-provider.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import type { MessageId } from '../../lib/ids.ts'
import type { Outgoing, ProviderTools } from './provider.ts'
import * as recordings from './providers/recorded/index.ts'
import { CALLBACK_URL, FULL_EMAIL, type Recording } from './recording.ts'
import { type ProviderName, providers } from './registry.ts'

const PDF = { name: 'Rechnung "März".pdf', contentType: 'application/pdf', content: Buffer.from('%PDF-1.7 \0\xFF\r\n--x', 'latin1') }
const LOGO = { name: 'logo.png', contentType: 'image/png', content: Buffer.from('\x89PNG', 'latin1'), contentId: 'logo@shop' }
const [pdf, logo] = [PDF, LOGO].map(({ content }) => content.toString('base64'))

/** By provider, what the documentation says about each file: the page, and what the request has. */
const DOCUMENTED: Partial<Record<ProviderName, { page: string; members: object }>> = {
  ses: {
    page: 'https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_Attachment.html',
    members: {
      Content: {
        Simple: {
          Attachments: [
            {
              FileName: PDF.name,
              ContentType: 'application/pdf',
              ContentDisposition: 'ATTACHMENT',
              ContentTransferEncoding: 'BASE64',
              RawContent: pdf,
            },
            {
              FileName: 'logo.png',
              ContentType: 'image/png',
              ContentDisposition: 'INLINE',
              ContentTransferEncoding: 'BASE64',
              RawContent: logo,
              ContentId: 'logo@shop',
            },
          ],
        },
      },
    },
  },
  sendgrid: {
    page: 'https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send',
    members: {
      attachments: [
        { content: pdf, type: 'application/pdf', filename: PDF.name, disposition: 'attachment' },
        { content: logo, type: 'image/png', filename: 'logo.png', disposition: 'inline', content_id: 'logo@shop' },
      ],
    },
  },
  postmark: {
    page: 'https://postmarkapp.com/developer/user-guide/send-email-with-api',
    members: {
      Attachments: [
        { Name: PDF.name, ContentType: 'application/pdf', Content: pdf },
        { Name: 'logo.png', ContentType: 'image/png', Content: logo, ContentID: 'cid:logo@shop' },
      ],
    },
  },
  resend: {
    page: 'https://resend.com/docs/api-reference/emails/send-email',
    members: {
      attachments: [
        { content: pdf, filename: PDF.name, content_type: 'application/pdf' },
        { content: logo, filename: 'logo.png', content_type: 'image/png', content_id: 'logo@shop' },
      ],
    },
  },
}

const recorded: Partial<Record<ProviderName, unknown>> = recordings

const fakeProvider = await openFakeProvider()
afterAll(() => fakeProvider[Symbol.asyncDispose]())

async function requestOf(name: ProviderName, attachments: NonNullable<Outgoing['attachments']>) {
  const { settings, sends } = recorded[name] as Recording
  fakeProvider.requests.length = 0
  fakeProvider.answer(...sends.success.replies)
  const message = {
    id: 42 as MessageId,
    key: 'k-42',
    channel: 'email' as const,
    recipient: 'kim@example.org',
    summary: 'Hello',
    devices: [],
  }
  const outside = { fetch: fakeProvider.fetch, clock: createTestClock(), baseUrl: 'https://carillon.test', callbackUrl: CALLBACK_URL }
  const given = settings({ host: fakeProvider.host, port: fakeProvider.port }) as never
  const outcome = await providers[name].send(given, { ...message, ...FULL_EMAIL, attachments }, outside as unknown as ProviderTools)
  expect(outcome).toMatchObject({ is: 'accepted' })
  return fakeProvider.requests[0] as (typeof fakeProvider.requests)[number]
}

test.each(Object.entries(DOCUMENTED))('%s gets an attachment and an inline image as it documents them', async (name, { members }) => {
  const { json, headers } = await requestOf(name as ProviderName, [PDF, LOGO])
  expect(headers['content-type']).toBe('application/json')
  expect(json).toMatchObject(members)
  const plain = await requestOf(name as ProviderName, [])
  expect(JSON.stringify(plain.json).toLowerCase()).not.toContain('attachment')
})

/** https://documentation.mailgun.com/docs/mailgun/user-manual/sending-messages/send-attachments */
test('mailgun gets a form with the files `attachment` and `inline`, which the HTML names by its file name', async () => {
  const { bytes, headers } = await requestOf('mailgun', [PDF, LOGO])
  const form = await new Response(bytes, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
  const [attachment, inline] = [form.get('attachment') as File, form.get('inline') as File]
  expect([attachment.name, attachment.type]).toEqual(['Rechnung _März_.pdf', 'application/pdf'])
  expect(Buffer.from(await attachment.arrayBuffer())).toEqual(PDF.content)
  expect([inline.name, inline.type]).toEqual(['logo@shop', 'image/png'])
  expect(Buffer.from(await inline.arrayBuffer())).toEqual(LOGO.content)
  expect([form.get('subject'), form.get('bcc')]).toEqual([FULL_EMAIL.content.subject, FULL_EMAIL.content.bcc])
})

test('every provider of email over HTTP is among them', () => {
  const overHttp = Object.entries(recordings).flatMap(([name, { over }]) =>
    over === 'https' && providers[name as ProviderName].channels.includes('email') ? [name] : [],
  )
  expect(overHttp.filter((name) => !(name in DOCUMENTED) && name !== 'mailgun')).toEqual([])
})
