/** Reports as mail hosts send them: bounces and complaints. */
import { connect } from 'node:net'

/** A delivery status notification (RFC 3464). `original` is the address as the sender gave it; `more` are further blocks. */
export function bounceMail(fields: {
  status?: string
  diagnostic?: string
  action?: string
  recipient?: string
  original?: string
  more?: string[]
  returned?: string[]
  envelopeId?: string
}): Buffer {
  const {
    status = '5.1.1',
    diagnostic = '550 5.1.1 No such user here',
    action = 'failed',
    recipient = 'kim@example.com',
    original,
    more = [],
    returned = [],
    envelopeId = 'unknown',
  } = fields
  return mail(
    'delivery-status',
    [
      'Reporting-MTA: dns; mx.example.org',
      `Original-Envelope-Id: ${envelopeId}`,
      '',
      ...(original === undefined ? [] : [`Original-Recipient: rfc822;${original}`]),
      `Final-Recipient: rfc822; ${recipient}`,
      `Action: ${action}`,
      `Status: ${status}`,
      `Diagnostic-Code: smtp; ${diagnostic}`,
      '',
      ...more,
    ],
    returned,
  )
}

/** A feedback report (RFC 5965). */
export const complaintMail = (type: string, fields: string[] = [], returned: string[] = []): Buffer =>
  mail('feedback-report', [`Feedback-Type: ${type}`, 'User-Agent: Test/1', 'Version: 1', ...fields, ''], returned)

const mail = (type: string, part: string[], returned: string[]): Buffer =>
  Buffer.from(
    [
      'From: MAILER-DAEMON@mx.example.org',
      'Subject: Report',
      `Content-Type: multipart/report; report-type=${type}; boundary="B"`,
      '',
      '--B',
      `Content-Type: message/${type}`,
      '',
      ...part,
      ...(returned.length > 0 ? ['--B', 'Content-Type: text/rfc822-headers', '', ...returned, ''] : []),
      '--B--',
      '',
    ].join('\r\n'),
  )

/** Sends lines to an SMTP server, one after each reply, and returns its replies. */
export async function smtpTalk(port: number, lines: (string | Buffer | (() => Promise<string>))[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1')
  const replies: string[] = []
  let rest = ''
  const left = [...lines, 'QUIT']
  for await (const chunk of socket) {
    const texts = (rest + String(chunk)).split('\r\n')
    rest = texts.pop() ?? ''
    for (const text of texts) {
      if (text[3] === '-') continue
      replies.push(text)
      const next = left.shift()
      const line = typeof next === 'function' ? await next() : next
      if (line !== undefined) socket.write(Buffer.concat([Buffer.from(line as never), Buffer.from('\r\n')]))
    }
  }
  return replies.slice(1)
}

/** Sends an email, and returns the replies to the recipient and to the content. */
export async function smtpSend(port: number, to: string, content: Buffer): Promise<{ to: string; content: string }> {
  const lines = ['EHLO mx.example.org', 'MAIL FROM:<>', `RCPT TO:<${to}>`, 'DATA', Buffer.concat([content, Buffer.from('.')])]
  const replies = await smtpTalk(port, lines)
  return { to: replies[2] ?? '', content: replies[4] ?? '' }
}
