/** An SMTP server on loopback that replies by a script, also with what no real server would say. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/**
 * The reply to a command, or to the content of an email (`BODY`), or `cut` to close the connection there. After a reply to `DATA` of two lines,
 * the second one for the content, nothing more is read.
 */
export type Script = Partial<Record<Stage, string>>
type Stage = 'GREETING' | 'EHLO' | 'HELO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'BODY'

export type ScriptedSmtp = AsyncDisposable & { host: string; port: number; made(): number; received(): number; begun(): number }

const REPLIES: Required<Script> = {
  GREETING: '220 mx.example ESMTP',
  EHLO: '250 mx.example',
  HELO: '250 mx.example',
  STARTTLS: '220 go on',
  AUTH: '235 2.7.0 welcome',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go on',
  BODY: '250 2.0.0 OK queued as 7B3F1',
}

/**
 * Starts a server. What the script leaves out succeeds. `cutsContent`: so many connections are reset when a part of the content has come.
 * `mailsMax`: so many emails are taken over a connection.
 */
export async function openScriptedSmtp(
  script: Script,
  { cutsContent = 0, mailsMax = Number.POSITIVE_INFINITY } = {},
): Promise<ScriptedSmtp> {
  const replies = { ...REPLIES, ...script }
  const sockets = new Set<Socket>()
  let made = 0
  let received = 0
  let begun = 0
  let cuts = cutsContent
  const server = createServer((socket) => {
    made++
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    const reply = (at: keyof Script) => (replies[at] === 'cut' ? socket.destroy() : socket.write(`${replies[at]}\r\n`))
    let inContent = false
    let mails = 0
    let rest = ''
    reply('GREETING')
    socket.setEncoding('utf8').on('data', (text: string) => {
      if (inContent && cuts > 0) {
        cuts--
        socket.resetAndDestroy()
        return
      }
      const lines = (rest + text).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const command = (/^[A-Z]+/.exec(line)?.[0] ?? '') as keyof Script
        if (inContent && line === '.') {
          inContent = false
          received++
          reply('BODY')
        } else if (!inContent && command === 'MAIL' && ++mails > mailsMax) {
          socket.end('421 4.3.2 Too many emails\r\n')
        } else if (!inContent && command in replies) {
          reply(command)
          // Then a handshake begins, which this server does not understand.
          if (command === 'STARTTLS') socket.once('data', () => socket.destroy())
          inContent = command === 'DATA' && replies.DATA.startsWith('354')
          if (inContent) begun++
          if (inContent && replies.DATA.includes('\n')) socket.pause()
        } else if (!inContent) socket.write('250 ok\r\n')
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    made: () => made,
    received: () => received,
    begun: () => begun,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
