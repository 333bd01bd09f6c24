/** The connection of smtp-server, stricter about lines and free in its enhanced status codes. */
import type { Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import type { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { createLineCheck } from '../../lib/smtp/line-check.ts'

const BAD_LINE = 521
const BAD_LINE_TEXT = '5.5.2 A line must end with CR LF, and CR, LF and NUL are allowed nowhere else.'
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /

class StrictConnection extends SMTPConnection {
  /** smtp-server takes LF alone for the end of a line, and accepts CR and NUL in an email. They are refused before it gets them. */
  override _createParser(): SMTPStream {
    const parser = super._createParser()
    const check = createLineCheck()
    const write = parser.write.bind(parser) as (chunk: Buffer) => boolean
    parser.write = ((chunk: Buffer) => {
      if (check(chunk)) return write(chunk)
      this.send(BAD_LINE, BAD_LINE_TEXT, false)
      this.close()
      return true
    }) as typeof parser.write
    return parser
  }

  /** A text that begins with an enhanced status code gets no other one. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    super.send(code, data, typeof data === 'string' && ENHANCED.test(data) ? false : context)
  }
}

export class StrictServer extends SMTPServer {
  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new StrictConnection(this, socket, options)
    this.connections.add(connection)
    connection.on('error', (error) => this.emit('error', error))
    connection.init()
  }
}
