import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../../lib/times.ts'
import { type Classification, classificationOf, classificationOfExpiry, LABELS } from './classifications.ts'
import { classify } from './classify.ts'
import { REPLIES } from './replies-of-servers.ts'

describe('the reply of a server', () => {
  test('is in a table of more than 120', () => expect(REPLIES.length).toBeGreaterThanOrEqual(120))

  test.each(REPLIES)('%s: %s', (_, reply, label) => {
    expect(classify(reply).label).toBe(label)
  })

  test.each(REPLIES)('%s, with its codes: %s', (_, reply, label) => {
    const [, code] = /^([245]\d\d)/.exec(reply) ?? []
    const [, enhancedCode] = /^[245]\d\d[ -](\d\.\d+\.\d+)/.exec(reply) ?? []
    const given = { ...(code && { code: Number(code) }), ...(enhancedCode && { enhancedCode }), response: reply }
    expect(classify(given).label).toBe(label)
  })
})

describe('the effect', () => {
  test.each<[string, Classification['bounce'], Classification['suppresses']]>([
    ['550 5.1.1 User unknown', 'hard', { is: 'at once' }],
    ['550 5.2.1 Mailbox disabled', 'hard', { is: 'at once' }],
    ['552 5.2.2 Mailbox full', 'soft', { is: 'after', bounces: 5, withinMs: 30 * DAY_MS, onDifferentDays: false }],
    ['552 5.3.4 Message too large', 'soft', { is: 'never' }],
    ['554 5.7.1 blocked using zen.spamhaus.org', 'block', { is: 'never' }],
    ['550 5.7.1 This message is spam', 'block', { is: 'never' }],
    ['550 5.7.26 Unauthenticated', 'block', { is: 'never' }],
    ['554 5.7.1 Relay access denied', 'soft', { is: 'after', bounces: 3, withinMs: 30 * DAY_MS, onDifferentDays: false }],
    ['500 5.5.1 Bad command', 'soft', { is: 'after', bounces: 3, withinMs: 30 * DAY_MS, onDifferentDays: true }],
    ['556 5.1.10 Null MX', 'hard', { is: 'at once' }],
    ['550 5.4.5 Daily sending limit exceeded', 'block', { is: 'never' }],
    ['550', 'soft', { is: 'after', bounces: 3, withinMs: 30 * DAY_MS, onDifferentDays: false }],
  ])('of %s is %s', (reply, bounce, suppresses) => {
    expect(classify(reply)).toMatchObject({ bounce, suppresses, isBounce: true, isPermanent: true })
  })

  test.each([
    '450 4.1.1 User unknown',
    '452 4.2.2 Mailbox full',
    '451 4.7.1 Greylisted',
    '421 4.7.0 blocked using zen.spamhaus.org',
    '450',
  ])('of %s is none: it is tried again', (reply) => {
    expect(classify(reply)).toMatchObject({ bounce: 'none', suppresses: { is: 'never' }, isBounce: false, isPermanent: false })
  })

  test('the code decides what is permanent, not the enhanced code, which servers confuse', () => {
    expect(classify('450 5.1.1 User unknown')).toMatchObject({ label: 'invalid-recipient', isPermanent: false })
    expect(classify('550 4.4.7 expired')).toMatchObject({ label: 'expired', isPermanent: true })
    expect(classify('Sorry, no mailbox here by that name. (#5.1.1)').isPermanent).toBe(true)
    expect(classify("Sorry, I wasn't able to connect. (#4.4.1)").isPermanent).toBe(false)
    expect(classify('The host closed the connection.', { isPermanent: false }).isPermanent).toBe(false)
  })

  test('an expired email has a full mailbox if that was the last failure', () => {
    expect(classificationOfExpiry(classify('452 4.2.2 Mailbox full'))).toMatchObject({ label: 'mailbox-full', bounce: 'soft' })
    expect(classificationOfExpiry(classify('450 4.1.1 User unknown'))).toMatchObject({ label: 'expired', bounce: 'soft' })
    const ofSender = { isOfSender: true }
    expect(classificationOfExpiry(classify('450 4.1.1 User unknown', ofSender), ofSender)).toMatchObject({
      ...{ label: 'expired', bounce: 'none', suppresses: { is: 'never' } },
    })
  })

  test('emails that expired on the same day count as one bounce, because a host that refuses every greeting lets all of them expire', () => {
    const suppresses = { is: 'after', bounces: 3, withinMs: 30 * DAY_MS, onDifferentDays: true }
    expect(classificationOfExpiry(classify('554 No SMTP service here', { isPermanent: false }))).toMatchObject({
      label: 'expired',
      suppresses,
    })
  })

  test('an email that expired without an attempt, or before the end of its lifetime, says nothing about the address', () => {
    const noBounce = { label: 'expired', bounce: 'none', isBounce: false, suppresses: { is: 'never' }, isPermanent: true }
    expect(classificationOfExpiry(null)).toEqual(noBounce)
    expect(classificationOfExpiry(classify('450 4.7.1 Greylisted'), { isCutShort: true })).toEqual(noBounce)
    expect(classificationOfExpiry(classify('452 4.2.2 Mailbox full'), { isCutShort: true })).toMatchObject({ label: 'mailbox-full' })
  })
})

describe('a refusal of ours is not one of the recipient', () => {
  test.each([
    'blocked using zen.spamhaus.org',
    'listed in a DNSBL',
    'your IP is on our blocklist',
    'poor reputation',
    'Sender address <shop@example.com> does not exist',
  ])('%s', (text) => {
    for (const codes of ['550 5.1.1', '550 5.2.1', '550', '554 5.7.1', '553 5.1.3'])
      expect(classify(`${codes} <kim@example.org> ${text}`)).toMatchObject({ label: 'sender-reputation', suppresses: { is: 'never' } })
  })

  test.each([
    '554 5.7.1 <mail.shop.example>: Helo command rejected: Host not found',
    '550 5.7.1 HELO/EHLO name is not a valid FQDN',
    '550 The EHLO name mail.shop.example does not exist',
    '554 5.7.1 Client host does not exist in DNS',
    '550 5.1.1 Client host not found',
    '550 PTR not found',
    '554 5.7.1 The domain of the MAIL FROM does not exist',
    '550 The domain of the MAIL FROM address does not exist',
    '553 Sender address not found',
    '550 5.7.1 <kim@example.org>: Recipient address rejected: Your MTA is listed in too many DNSBLs',
    '550 5.7.1 <kim@example.org>: Recipient address rejected: Policy Rejection- Abuse',
    '550 <kim@example.org>: Recipient address rejected: Policy Rejection- Abuse',
    '550 5.7.1 <kim@example.org>: Recipient address rejected: not today',
    '550 5.7.1 The name mail.shop.example does not exist',
    '554 5.7.1 Domain not found',
  ])('whatever is not found: %s', (reply) => {
    expect(classify(reply)).toMatchObject({ label: 'sender-reputation', suppresses: { is: 'never' } })
  })

  test.each(['554 mail.shop.example[192.0.2.7] does not exist', '550 192.0.2.7: not found', '550 Host not found: 192.0.2.7'])(
    'nor what says of our address that it is not found: %s',
    (reply) => expect(classify(reply, { ownAddresses: ['192.0.2.7'] }).label).toBe('sender-reputation'),
  )

  test.each([
    '550 5.7.1 <kim@example.org>: Recipient address rejected: User unknown',
    '550 5.7.1 The user does not exist here, says mail.shop.example[192.0.2.7]',
    '550 Mailbox not found for mail from 192.0.2.7',
    '550 5.1.1 <helo@example.org>: User unknown',
    '550 5.1.1 <rbl@spamhaus.example.org>: User unknown',
    '550 <ptr.spam@example.org>: User unknown',
  ])('but one is that says that the user is unknown: %s', (reply) => {
    expect(classify(reply, { ownAddresses: ['192.0.2.7'] })).toMatchObject({ label: 'invalid-recipient', suppresses: { is: 'at once' } })
  })

  test('nor is one that names our address, unless it says that the recipient is unknown', () => {
    const ownAddresses = ['192.0.2.7']
    expect(classify('550 Rejected 192.0.2.7', { ownAddresses })).toMatchObject({ label: 'sender-reputation' })
    expect(classify('550 Rejected 192.0.2.70', { ownAddresses })).toMatchObject({ label: 'other' })
    expect(classify('550 Rejected 192.0.2.7')).toMatchObject({ label: 'other' })
    expect(classify('550 No such user here, says the log of 192.0.2.7', { ownAddresses })).toMatchObject({ label: 'invalid-recipient' })
  })

  test.each(['550 5.1.1 marblist user unknown', '550 5.1.1 kim.listed@example.org: User unknown', '550 5.1.1 spamhaus2 unknown'])(
    'a phrase inside another word counts for nothing: %s',
    (reply) => {
      expect(classify(reply).label).toBe('invalid-recipient')
    },
  )
})

describe('any text', () => {
  test('has a label', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), fc.boolean(), (text, isPermanent) => {
        const found = classify(text, { isPermanent })
        expect(LABELS).toContain(found.label)
        expect(found).toEqual(classificationOf(found.label, found.isPermanent))
      }),
    )
  })

  test('an address in brackets or a version is no enhanced code', () => {
    expect(classify('550 host[5.1.1.10] refused the recipient').label).not.toBe('invalid-recipient')
    expect(classify('550 server 5.1.1.2').label).toBe('other')
  })
})
