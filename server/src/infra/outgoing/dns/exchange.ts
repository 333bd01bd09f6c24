/** One question to one name server, over UDP, and over TCP if the answer does not fit. Failures are answers. */
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import type { NameServer } from '../../../lib/name-servers.ts'
import { encodeQuestion, type Question, type RecordType, readAnswer, type Said } from './packets.ts'

/** Answers that are not to the question, after which a server is not listened to any longer. */
const STRANGE_MAX = 100
/** Longer answers over TCP are refused. A set of records that delivery can use takes a fraction of it. */
const TCP_BYTES_MAX = 16_384

/** Asks a server. `signal` ends the wait. Each question is sent from a port that the system chooses at random. */
export async function ask<T extends RecordType>(
  server: NameServer,
  question: Question & { type: T },
  signal: AbortSignal,
): Promise<Exclude<Said<T>, { is: 'truncated' }>> {
  const over = await overUdp(server, question, signal)
  const said = over.is === 'truncated' ? await overTcp(server, question, signal) : over
  return said.is === 'truncated' ? { is: 'failed', reason: 'an answer over TCP that is not complete' } : said
}

const TIMED_OUT = { is: 'failed', reason: 'no answer in time' } as const

const failed = ({ code }: NodeJS.ErrnoException) => ({ is: 'failed', reason: code ?? 'no connection to the name server' }) as const

function overUdp<T extends RecordType>(server: NameServer, question: Question & { type: T }, signal: AbortSignal): Promise<Said<T>> {
  const { promise, resolve } = Promise.withResolvers<Said<T>>()
  const socket = createSocket(isIPv6(server.ip) ? 'udp6' : 'udp4')
  let strange = 0
  let isOver = false
  const finish = (said: Said<T>) => {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', giveUp)
    socket.close()
    resolve(said)
  }
  const giveUp = () => finish(TIMED_OUT)
  socket.on('error', (error) => finish(failed(error)))
  socket.on('message', (message) => {
    const said = readAnswer(message, question)
    if (said) finish(said)
    else if (++strange >= STRANGE_MAX) finish({ is: 'failed', reason: 'answers to other questions' })
  })
  if (signal.aborted) giveUp()
  else {
    signal.addEventListener('abort', giveUp)
    // A connected socket receives from this server only, and learns when nothing listens there. Not a callback of `connect`: it would get the
    // error of a server that cannot be reached, instead of the listener above.
    socket.once('connect', () => {
      if (!isOver) socket.send(encodeQuestion(question))
    })
    socket.connect(server.port, server.ip)
  }
  return promise
}

function overTcp<T extends RecordType>(server: NameServer, question: Question & { type: T }, signal: AbortSignal): Promise<Said<T>> {
  const { promise, resolve } = Promise.withResolvers<Said<T>>()
  const socket = connect({ host: server.ip, port: server.port, signal })
  const chunks: Buffer[] = []
  let size = 0
  const finish = (said: Said<T>) => {
    socket.destroy()
    resolve(said)
  }
  socket.on('connect', () => socket.write(framed(encodeQuestion(question))))
  socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code === 'ABORT_ERR' ? TIMED_OUT : failed(error)))
  socket.on('end', () => finish({ is: 'failed', reason: 'the name server closed the connection' }))
  socket.on('data', (bytes) => {
    chunks.push(bytes)
    size += bytes.length
    if (size < 2) return
    const received = Buffer.concat(chunks)
    const length = received.readUInt16BE(0)
    if (length > TCP_BYTES_MAX) finish({ is: 'failed', reason: `an answer of more than ${TCP_BYTES_MAX} bytes` })
    else if (size >= 2 + length) {
      finish(readAnswer(received.subarray(2, 2 + length), question) ?? { is: 'failed', reason: 'an answer that cannot be read' })
    }
  })
  return promise
}

/** Messages over TCP have their length in front (RFC 1035 §4.2.2). */
const framed = (message: Buffer) => Buffer.concat([Buffer.of(message.length >> 8, message.length & 0xff), message])
