import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createReplyReader, ReplyError } from './replies.ts'
import { type Action, createSession, type Envelope, type SessionOptions } from './session.ts'

const plain: SessionOptions = { name: 'client.example', startTls: 'never', credentials: null, overlaps: 'always' }
const kim: Envelope = { from: 'a@example.com', to: ['kim@example.org'] }
const both: Envelope = { from: 'a@example.com', to: ['kim@example.org', 'ana@example.org'] }

/** A session with what it wrote and what came of its mails. Replies are given as a server writes them. */
function open(options: Partial<SessionOptions> = {}) {
  const session = createSession<string>({ ...plain, ...options })
  const reader = createReplyReader()
  const log: string[] = []
  const note = (actions: Action<string>[]) => {
    for (const action of actions) {
      if (action.do === 'write') log.push(String(action.bytes))
      else if (action.do === 'write content') log.push(String(Buffer.concat(action.pieces)))
      else if (action.do === 'finish')
        log.push(
          `${action.mail}: ${[action.result.is, 'stage' in action.result ? action.result.stage : '', action.result.reply.code].filter(Boolean).join(' ')}`,
        )
      else if (action.do === 'refuse') log.push(`refuse ${action.stage} ${action.reply.code}`)
      else if (action.do === 'fail') log.push(['fail', action.why, ...('reply' in action ? [action.reply?.code] : [])].join(': '))
      else log.push(action.do)
    }
  }
  return {
    session,
    hear(...lines: string[]) {
      for (const line of lines) for (const reply of reader.read(Buffer.from(`${line}\r\n`))) note(session.receive(reply))
      return log.splice(0)
    },
    secured() {
      note(session.secured())
      return log.splice(0)
    },
    written() {
      note(session.contentWritten())
      return log.splice(0)
    },
    send(mail: string, envelope = kim, content = 'Hello\r\n') {
      note(session.begin(mail, envelope, Buffer.from(content)))
      return log.splice(0)
    },
  }
}

const EHLO = 'EHLO client.example\r\n'

/** An open session. */
const opened = (...extensions: string[]) => openedWith({}, ...extensions)

function openedWith(options: Partial<SessionOptions>, ...extensions: string[]) {
  const s = open(options)
  s.hear('220 mx')
  const lines = ['mx', ...extensions]
  s.hear(...lines.map((line, at) => `250${at === lines.length - 1 ? ' ' : '-'}${line}`))
  return s
}

describe('opening', () => {
  test.each<[string, Partial<SessionOptions>, string[], string[]]>([
    ['a plain session', {}, ['220 mx', '250 mx'], [EHLO, 'ready']],
    ['a server that refuses', {}, ['554 go away'], ['refuse GREETING 554']],
    ['a server from before EHLO', {}, ['220 mx', '500 what?', '250 mx'], [EHLO, 'HELO client.example\r\n', 'ready']],
    ['one that takes no mail', {}, ['220 mx', '521 never'], [EHLO, 'refuse EHLO 521']],
    ['one that is busy', {}, ['220 mx', '421 later'], [EHLO, 'refuse EHLO 421']],
    ['one without EHLO, with required TLS', { startTls: 'required' }, ['220 mx', '500 what?'], [EHLO, 'refuse EHLO 500']],
    ['required TLS that is not offered', { startTls: 'required' }, ['220 mx', '250 mx'], [EHLO, 'fail: TLS is not offered']],
    [
      'required TLS that is refused',
      { startTls: 'required' },
      ['220 mx', '250-mx\r\n250 STARTTLS', '454 no'],
      [EHLO, 'STARTTLS\r\n', 'fail: TLS is not offered: 454'],
    ],
    [
      'optional TLS that is refused',
      { startTls: 'if offered' },
      ['220 mx', '250-mx\r\n250 STARTTLS', '454 no'],
      [EHLO, 'STARTTLS\r\n', 'ready'],
    ],
    ...(['required', 'if offered'] as const).map((startTls): [string, Partial<SessionOptions>, string[], string[]] => [
      `a server that ends the session instead of TLS that is ${startTls}`,
      { startTls },
      ['220 mx', '250-mx\r\n250 STARTTLS', '421 later'],
      [EHLO, 'STARTTLS\r\n', 'refuse STARTTLS 421'],
    ]),
    ['TLS that is not wanted', { startTls: 'never' }, ['220 mx', '250-mx\r\n250 STARTTLS'], [EHLO, 'ready']],
  ])('%s', (_, options, replies, expected) => {
    expect(open(options).hear(...replies)).toEqual(expected)
  })

  test('after STARTTLS, what the server said before does not count', () => {
    const s = open({ startTls: 'required', credentials: { username: 'kim', password: 'secret' } })
    s.hear('220 mx', '250-mx\r\n250-AUTH LOGIN\r\n250-PIPELINING\r\n250 STARTTLS')
    expect(s.hear('220 go')).toEqual(['secure'])
    expect(s.secured()).toEqual([EHLO])
    expect(s.hear('250-mx\r\n250 AUTH PLAIN')[0]).toMatch(/^AUTH PLAIN /)
    s.hear('235 ok')
    expect(s.send('m1')).toEqual(['MAIL FROM:<a@example.com>\r\n'])
  })

  const login = { credentials: { username: 'kim', password: 'säcret' } }
  const b64 = (text: string) => `${Buffer.from(text).toString('base64')}\r\n`
  test.each<[string, string[], string[]]>([
    ['AUTH PLAIN LOGIN', ['235 ok'], [`AUTH PLAIN ${b64('\0kim\0säcret')}`, 'ready']],
    ['AUTH=PLAIN', ['235 ok'], [`AUTH PLAIN ${b64('\0kim\0säcret')}`, 'ready']],
    ['AUTH PLAIN', ['334 ', '235 ok'], [`AUTH PLAIN ${b64('\0kim\0säcret')}`, b64('\0kim\0säcret'), 'ready']],
    ['AUTH LOGIN', ['334 VXNlcm5hbWU6', '334 UGFzc3dvcmQ6', '235 ok'], ['AUTH LOGIN\r\n', b64('kim'), b64('säcret'), 'ready']],
    ['AUTH LOGIN', ['334 VXNlcm5hbWU6', '535 no'], ['AUTH LOGIN\r\n', b64('kim'), 'refuse AUTH 535']],
    ['HELP', ['235 ok'], [`AUTH PLAIN ${b64('\0kim\0säcret')}`, 'ready']],
    ['AUTH XOAUTH2', ['504 no'], [`AUTH PLAIN ${b64('\0kim\0säcret')}`, 'refuse AUTH 504']],
    ['AUTH PLAIN', ['334 ', '334 '], [`AUTH PLAIN ${b64('\0kim\0säcret')}`, b64('\0kim\0säcret'), 'refuse AUTH 334']],
  ])('logging in with %s: %j', (offered, replies, expected) => {
    const s = open(login)
    s.hear('220 mx')
    expect(s.hear(`250-mx\r\n250 ${offered}`, ...replies)).toEqual(expected)
  })

  test('logging in with CRAM-MD5 (the example of RFC 2195)', () => {
    const s = open({ credentials: { username: 'tim', password: 'tanstaaftanstaaf' } })
    s.hear('220 mx', '250-mx\r\n250 AUTH CRAM-MD5')
    const challenge = Buffer.from('<1896.697170952@postoffice.reston.mci.net>').toString('base64')
    expect(s.hear(`334 ${challenge}`, '235 ok')).toEqual([b64('tim b913a602c7eda7a495b4e6e7334d3890'), 'ready'])
  })
})

describe('a mail without PIPELINING is sent command by command', () => {
  test.each<[string, Envelope, string[], string[]]>([
    [
      'accepted',
      kim,
      ['250 ok', '250 ok', '354 go', '250 queued'],
      ['RCPT TO:<kim@example.org>\r\n', 'DATA\r\n', 'Hello\r\n.\r\n', 'm1: accepted 250'],
    ],
    ['a refused sender', kim, ['550 no'], ['m1: refused MAIL 550']],
    ['a refused recipient', kim, ['250 ok', '550 no'], ['RCPT TO:<kim@example.org>\r\n', 'm1: refused RCPT 550']],
    [
      'a refused copy',
      both,
      ['250 ok', '250 ok', '550 no', '354 go', '250 ok'],
      ['RCPT TO:<kim@example.org>\r\n', 'RCPT TO:<ana@example.org>\r\n', 'DATA\r\n', 'Hello\r\n.\r\n', 'm1: accepted 250'],
    ],
    [
      'a copy alone',
      both,
      ['250 ok', '550 no', '250 ok', '354 go', '250 ok'],
      ['RCPT TO:<kim@example.org>\r\n', 'RCPT TO:<ana@example.org>\r\n', 'DATA\r\n', 'Hello\r\n.\r\n', 'm1: refused RCPT 550'],
    ],
    [
      'refused content',
      kim,
      ['250 ok', '250 ok', '354 go', '554 spam'],
      ['RCPT TO:<kim@example.org>\r\n', 'DATA\r\n', 'Hello\r\n.\r\n', 'm1: refused DATA 554'],
    ],
    ['refused DATA', kim, ['250 ok', '250 ok', '451 later'], ['RCPT TO:<kim@example.org>\r\n', 'DATA\r\n', 'm1: refused DATA 451']],
    [
      'accepted by a server that asks for the content with another code of the same first digit',
      kim,
      ['250 ok', '250 ok', '350 go', '250 queued'],
      ['RCPT TO:<kim@example.org>\r\n', 'DATA\r\n', 'Hello\r\n.\r\n', 'm1: accepted 250'],
    ],
  ])('%s', (_, envelope, replies, expected) => {
    const s = opened()
    expect(s.send('m1', envelope)).toEqual(['MAIL FROM:<a@example.com>\r\n'])
    expect(s.hear(...replies)).toEqual(expected)
    expect(s.session.isFree()).toBe(true)
  })

  test.each([
    ['asks for more after the content, may have it', ['354 go', '354 more?'], ['Hello\r\n.\r\n', 'm1: uncertain 354', 'close']],
    ['accepts a mail before it has asked for the content, has none', ['250 ok'], ['m1: refused DATA 250', 'close']],
  ])('a server that %s, and the session ends', (_, replies, expected) => {
    const s = opened()
    s.send('m1')
    s.hear('250 ok', '250 ok')
    expect(s.hear(...replies)).toEqual(expected)
    expect(s.session.isFree()).toBe(false)
  })

  test('after a refusal that leaves a mail open, the next one begins anew', () => {
    const s = opened()
    s.send('m1')
    s.hear('250 ok', '550 no')
    expect(s.send('m2')).toEqual(['RSET\r\n'])
    expect(s.hear('250 ok')).toEqual(['MAIL FROM:<a@example.com>\r\n'])
  })
})

describe('a mail with PIPELINING is two writes', () => {
  const commands = 'MAIL FROM:<a@example.com>\r\nRCPT TO:<kim@example.org>\r\nRCPT TO:<ana@example.org>\r\nDATA\r\n'
  test.each<[string, string[], string[]]>([
    ['accepted', ['250 ok', '250 ok', '250 ok', '354 go', '250 queued'], ['Hello\r\n.\r\n', 'm1: accepted 250']],
    ['a refused sender', ['550 no', '503 bad', '503 bad', '503 bad'], ['m1: refused MAIL 550']],
    ['all recipients refused', ['250 ok', '550 no', '551 no', '554 none'], ['m1: refused RCPT 550']],
    [
      'a server that asks for content all the same',
      ['250 ok', '550 no', '551 no', '354 go', '554 none'],
      ['.\r\n', 'm1: refused RCPT 550'],
    ],
    [
      'a server that takes an empty mail of a refused sender',
      ['550 no', '250 ok', '250 ok', '354 go', '250 ok'],
      ['.\r\n', 'm1: refused MAIL 550'],
    ],
    ['the main recipient refused', ['250 ok', '550 no', '250 ok', '354 go', '250 ok'], ['Hello\r\n.\r\n', 'm1: refused RCPT 550']],
    ['a refused copy', ['250 ok', '250 ok', '550 no', '354 go', '250 ok'], ['Hello\r\n.\r\n', 'm1: accepted 250']],
  ])('%s', (_, replies, expected) => {
    const s = opened('PIPELINING')
    expect(s.send('m1', both)).toEqual([commands])
    expect(s.hear(...replies)).toEqual(expected)
  })

  test('the next mail begins when all of the one before was written', () => {
    const s = opened('PIPELINING', 'SIZE 1000')
    s.send('m1')
    expect(s.session.isFree()).toBe(false)
    s.hear('250 ok', '250 ok', '354 go')
    expect(s.session.isFree()).toBe(true)
    expect(s.send('m2')).toEqual(['MAIL FROM:<a@example.com> SIZE=7\r\nRCPT TO:<kim@example.org>\r\nDATA\r\n'])
    expect(s.session.isFree()).toBe(false)
    expect(s.session.open()).toMatchObject([
      { mail: 'm1', stage: 'DATA', hasBody: true },
      { mail: 'm2', stage: 'MAIL', hasBody: false },
    ])
    expect(s.hear('554 spam', '250 ok', '250 ok', '354 go', '250 ok')).toEqual([
      'm1: refused DATA 554',
      'Hello\r\n.\r\n',
      'm2: accepted 250',
    ])
  })

  describe('the end of a large content', () => {
    const large = 'Hello\r\n'.repeat(10_000)
    const sent = () => {
      const s = opened('PIPELINING')
      s.send('m1', kim, large)
      expect(s.hear('250 ok', '250 ok', '354 go')).toEqual([large])
      return s
    }

    test('follows when the rest was written: until then the server has no mail, and the next one does not begin', () => {
      const s = sent()
      expect([s.session.isFree(), s.session.open()]).toMatchObject([false, [{ mail: 'm1', stage: 'DATA', hasBody: false }]])
      expect(s.written()).toEqual(['.\r\n'])
      expect([s.session.isFree(), s.session.open()]).toMatchObject([true, [{ mail: 'm1', stage: 'DATA', hasBody: true }]])
      expect(s.written()).toEqual([])
      expect(s.hear('250 queued')).toEqual(['m1: accepted 250'])
    })

    test('follows although the server has accepted the mail already, and then the session ends, however it replies to the end', () => {
      const s = sent()
      expect(s.hear('250 queued')).toEqual(['m1: accepted 250'])
      expect([s.session.isFree(), s.session.isIdle()]).toEqual([false, false])
      expect(s.written()).toEqual(['.\r\n', 'QUIT\r\n'])
      expect([s.session.isFree(), s.session.isIdle()]).toEqual([false, true])
      expect(s.hear('250 queued')).toEqual(['close'])
    })

    test('does not follow when the server has refused the mail already: it might take the mail, and reply once more', () => {
      const s = sent()
      expect(s.hear('552 too large')).toEqual(['m1: refused DATA 552', 'close'])
      expect(s.session.isFree()).toBe(false)
    })

    test('nor when the server asks for more: the mail has no reply, and the server cannot have it', () => {
      const s = sent()
      expect(s.hear('354 go on')).toEqual(['fail: unexpected reply'])
      expect(s.session.open()).toMatchObject([{ mail: 'm1', stage: 'DATA', hasBody: false, replies: {} }])
    })
  })

  test('or only after a success, where the first mail decides whether the server can do it', () => {
    const s = openedWith({ overlaps: 'after a success' }, 'PIPELINING')
    s.send('m1')
    s.hear('250 ok', '250 ok', '354 go')
    expect(s.session.isFree()).toBe(false)
    s.hear('250 ok')
    s.send('m2')
    s.hear('250 ok', '250 ok', '354 go')
    expect(s.session.isFree()).toBe(true)
    s.hear('451 later')
    s.send('m3')
    s.hear('250 ok', '250 ok', '354 go')
    expect(s.session.isFree()).toBe(false)
  })

  test('without PIPELINING it waits for the reply', () => {
    const s = opened()
    s.send('m1')
    s.hear('250 ok', '250 ok', '354 go')
    expect(s.session.isFree()).toBe(false)
  })

  test('421 ends the session with the mail that it is about, and the server may not have the next one', () => {
    const s = opened('PIPELINING')
    s.send('m1')
    s.hear('250 ok', '250 ok', '354 go')
    s.send('m2')
    expect(s.hear('421 bye')).toEqual(['m1: refused DATA 421', 'close'])
    expect(s.session.open()).toMatchObject([{ mail: 'm2', stage: 'MAIL', hasBody: false }])
    expect(s.session.isFree()).toBe(false)
  })

  test('a reply that nothing asked for ends the session', () => {
    expect(opened('PIPELINING').hear('250 ok')).toEqual(['fail: unexpected reply'])
    expect(opened('PIPELINING').hear('421 idle')).toEqual(['close'])
  })
})

describe('what a mail needs is declared where the server offers it', () => {
  const utf8: Envelope = { ...kim, needs8Bit: true, needsSmtpUtf8: true }
  const reported: Envelope = { ...both, reports: { envelopeId: '4:17+a=b é' } }
  test.each<[string, Envelope, string[], string]>([
    ['nothing', utf8, [], 'MAIL FROM:<a@example.com>'],
    ['the size', kim, ['SIZE 1000'], 'MAIL FROM:<a@example.com> SIZE=7'],
    ['non-ASCII bytes', utf8, ['8BITMIME'], 'MAIL FROM:<a@example.com> BODY=8BITMIME'],
    ['addresses in UTF-8', utf8, ['8BITMIME', 'SMTPUTF8'], 'MAIL FROM:<a@example.com> BODY=8BITMIME SMTPUTF8'],
    ['not what a mail has no need of', kim, ['8BITMIME', 'SMTPUTF8', 'DSN'], 'MAIL FROM:<a@example.com>'],
    ['reports', reported, ['DSN'], 'MAIL FROM:<a@example.com> RET=HDRS ENVID=4:17+2Ba+3Db+20+C3+A9'],
    ['the null sender', { ...kim, from: '' }, [], 'MAIL FROM:<>'],
  ])('%s', (_, envelope, extensions, expected) => {
    expect(opened(...extensions).send('m1', envelope)).toEqual([`${expected}\r\n`])
  })

  test('each recipient is reported', () => {
    const s = opened('DSN')
    s.send('m1', reported)
    expect(s.hear('250 ok', '250 ok')).toEqual([
      'RCPT TO:<kim@example.org> NOTIFY=FAILURE,DELAY\r\n',
      'RCPT TO:<ana@example.org> NOTIFY=FAILURE,DELAY\r\n',
    ])
  })

  test('each recipient is reported as the sender asks, and failures and delays unless there shall be no reports', () => {
    const s = opened('DSN')
    const recipients = [
      { notify: ['NEVER'], original: 'rfc822;kim+old@example.org' },
      { notify: ['SUCCESS'], original: null },
    ]
    expect(s.send('m1', { ...both, reports: { envelopeId: '4', returns: 'FULL', recipients } })).toEqual([
      'MAIL FROM:<a@example.com> RET=FULL ENVID=4\r\n',
    ])
    expect(s.hear('250 ok', '250 ok')).toEqual([
      'RCPT TO:<kim@example.org> NOTIFY=NEVER ORCPT=rfc822;kim+2Bold@example.org\r\n',
      'RCPT TO:<ana@example.org> NOTIFY=SUCCESS,FAILURE,DELAY\r\n',
    ])
  })

  test.each<[string[], Envelope, number, string | null]>([
    [[], kim, 1e9, null],
    [['SIZE'], kim, 1e9, null],
    [['SIZE 0'], kim, 1e9, null],
    [['SIZE 1000'], kim, 1000, null],
    [['SIZE 1000'], kim, 1001, 'SIZE'],
    [[], { ...kim, needs8Bit: true }, 1, '8BITMIME'],
    [['8BITMIME'], { ...kim, needs8Bit: true }, 1, null],
    [['8BITMIME'], utf8, 1, 'SMTPUTF8'],
    [['SMTPUTF8'], utf8, 1, null],
  ])('with %j, a mail to %o of %i bytes lacks %s', (extensions, envelope, size, expected) => {
    expect(opened(...extensions).session.lacks(envelope, size)).toBe(expected)
  })
})

test('the replies about each recipient are returned', () => {
  const session = createSession<string>(plain)
  const reader = createReplyReader()
  const hear = (lines: string) => reader.read(Buffer.from(lines)).flatMap((reply) => session.receive(reply))
  hear('220 mx\r\n250-mx\r\n250 PIPELINING\r\n')
  session.begin('m1', both, Buffer.from('Hello'))
  const [, finished] = hear('250 sender\r\n550 kim\r\n250 ana\r\n354 go\r\n250 queued\r\n')
  expect(finished).toMatchObject({
    result: { is: 'refused', replies: { mail: { code: 250 }, recipients: [{ code: 550 }, { code: 250 }], content: { code: 250 } } },
  })
  session.begin('m2', both, Buffer.from('Hello'))
  hear('250 sender\r\n451 kim\r\n')
  expect(session.open()).toMatchObject([{ mail: 'm2', stage: 'RCPT', replies: { recipients: [{ code: 451 }] }, size: 5 }])
})

test.each<[string, string]>([
  ['.', '..\r\n.\r\n'],
  ['.a\r\n..b\r\n.\r\n', '..a\r\n...b\r\n..\r\n.\r\n'],
  ['\r\n.\r\n.\r\n.', '\r\n..\r\n..\r\n..\r\n.\r\n'],
  ['a.b\r\nc.', 'a.b\r\nc.\r\n.\r\n'],
  ['', '.\r\n'],
])('dots at the start of a line are doubled: %j', (content, expected) => {
  const s = opened('PIPELINING')
  s.send('m1', kim, content)
  expect(s.hear('250 ok', '250 ok', '354 go')).toEqual([expected])
})

describe('replies', () => {
  test.each([
    ['in UTF-8', Buffer.from('550-We weren’t\u2028able\r\n550 Empfänger\r\n'), ['We weren’t\u2028able', 'Empfänger']],
    ['in Latin 1, each line by itself', Buffer.from('550-Empf\xe4nger\r\n550 na\xc3\xafve\r\n', 'latin1'), ['Empfänger', 'naïve']],
  ])('are read %s', (_, bytes, lines) => {
    expect(createReplyReader().read(bytes)).toEqual([{ code: 550, lines }])
  })

  test('they are the same however their bytes are cut', () => {
    const bytes = Buffer.from('220-mx.example\r\n220 ready\r\n250-a\r\n250-b\n250 c\r\n354\r\n550 5.1.1 kein Empfänger\r\n')
    const whole = createReplyReader().read(bytes)
    expect(whole.map(({ code, lines }) => [code, lines.length])).toEqual([
      [220, 2],
      [250, 3],
      [354, 1],
      [550, 1],
    ])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 })), (sizes) => {
        const reader = createReplyReader()
        const replies: unknown[] = []
        let at = 0
        for (const size of [...sizes, bytes.length]) {
          replies.push(...reader.read(bytes.subarray(at, at + size)))
          at += size
        }
        expect(replies).toEqual(whole)
        expect(reader.isEmpty()).toBe(true)
      }),
    )
  })

  test.each([
    ['no code', 'hello\r\n'],
    ['an unknown code', '199 x\r\n'],
    ['another code in the same reply', '250-a\r\n251 b\r\n'],
    ['a line without end', 'x'.repeat(5000)],
    ['a reply without end', '250-x\r\n'.repeat(300)],
  ])('%s is not a reply', (_, text) => {
    expect(() => createReplyReader().read(Buffer.from(text))).toThrow(ReplyError)
  })
})
