/**
 * Opens a session at one of the hosts of a route (RFC 5321 §5.1): the next address when one cannot be connected to, the next host when
 * one refuses the session. When TLS fails and nothing requires it, the same host is connected to again without it (D-MTA-10, D-MTA-12).
 */
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { LRUCache } from 'lru-cache'
import type { Clock } from '../../../lib/clock.ts'
import type { EgressPolicy } from '../../../lib/egress.ts'
import type { MailResult, OpenMail } from '../../../lib/smtp/session.ts'
import { DAY_MS } from '../../../lib/times.ts'
import type { MailResolver } from '../dns/mail-resolver.ts'
import { openConnection } from '../smtp/connection.ts'
import { type Failure, NO_TLS } from '../smtp/failures.ts'
import { connectSocket } from '../smtp/socket.ts'
import type { SessionLimits } from '../smtp/time-limits.ts'
import { faultOf, replyOf, sentenceOf } from '../smtp/words.ts'
import { sourceFor, usableAddresses } from './addresses.ts'
import type { DeliveryStep, Route, SiteLimits } from './outcome.ts'
import { refusedHere } from './route.ts'
import type { MxSession, UnopenedOutcome, Waiting } from './session.ts'
import { type TlsDemand, tlsDemandOf, type Untrusted } from './tls-demand.ts'

/** What opening a session needs. */
export type OpeningTools = {
  policy: EgressPolicy
  resolver: Pick<MailResolver, 'addresses' | 'tlsa'>
  clock: Clock
  secureContext: SecureContext
  /** How this client names itself. */
  name: string
  port: number
  /** Own addresses to connect from; the system chooses if there is none of the family. */
  sources: readonly string[]
  /** A connection to another address than loopback is a bug, and throws. */
  isLoopbackOnly: boolean
  limits: SessionLimits & { connectMs: number }
  /** Hosts whose TLS failed, and until when they are not asked for it. */
  plainHosts: LRUCache<string, number>
  /** Ends the wait for a connection. */
  closing: AbortSignal
}

/** What happens to an open session. */
export type SessionEvents = {
  finished(session: MxSession, mail: Waiting, result: MailResult): void
  overlappable(session: MxSession): void
  closed(session: MxSession, failure: Failure, open: OpenMail<Waiting>[]): void
  /** The host counts the connection no longer. */
  released(session: MxSession): void
}

export type Unopened = { is: 'failed'; steps: DeliveryStep[]; outcome: UnopenedOutcome }
/** `unwanted`: the search for a host has ended early. */
export type Opened = { is: 'open'; session: MxSession } | Unopened | { is: 'unwanted' }

/** One host that is tried. `steps` grow with what happens. */
type Visit = {
  readonly tools: OpeningTools
  readonly events: SessionEvents
  readonly host: string
  readonly isLast: boolean
  readonly route: Route
  readonly limits: SiteLimits
  readonly steps: DeliveryStep[]
  /** Resolves when the site gets a connection; to false if it is not wanted any more. */
  readonly admitted: () => Promise<boolean>
}

/** Why a host was left. `absent`: it has no address, or takes no mail at all. */
type Left = { is: 'left'; isAbsent: boolean; outcome: UnopenedOutcome }

/** For how long a host whose TLS failed is not asked for it again. */
const PLAIN_MS = 3 * DAY_MS

/** Tries the hosts of a route in order, while `isWanted`. Rejects only if a test would connect to the outside. */
export async function openAt(
  tools: OpeningTools,
  route: Route,
  limits: SiteLimits,
  events: SessionEvents,
  isWanted: () => boolean,
): Promise<Opened> {
  const steps: DeliveryStep[] = []
  const reasons: Left[] = []
  const admitted = admissionsOf(tools, limits, isWanted)
  for (const [index, { host }] of route.hosts.entries()) {
    const tried = await tryHost({ tools, events, host, isLast: index === route.hosts.length - 1, route, limits, steps, admitted })
    if (tried.is !== 'left') return tried
    reasons.push(tried)
  }
  return { is: 'failed', steps, outcome: outcomeOf(reasons, route) }
}

/** The first connection was admitted before. Each further one waits, since the next host or address may be the one that takes the mail. */
function admissionsOf({ clock, closing }: OpeningTools, { admitConnection }: SiteLimits, isWanted: () => boolean): () => Promise<boolean> {
  let isFirst = true
  return async () => {
    const wasFirst = isFirst
    isFirst = false
    while (!wasFirst && !closing.aborted && isWanted()) {
      const connection = admitConnection?.()
      if (connection?.isAdmitted !== false) return true
      await clock.sleep(Math.max(1, connection.nextAt - clock.now().getTime()), closing)
    }
    return wasFirst && !closing.aborted
  }
}

/** Of a session that the host has ended before it got a mail. */
export function closedAtOnce({ host, firstSteps, connection }: MxSession): Unopened {
  const reason = 'The host closed the connection.'
  return {
    is: 'failed',
    steps: [...firstSteps, { is: 'failed', host, stage: 'EHLO', peer: connection.peer(), reason }],
    outcome: { is: 'temporary', reason, host, fault: 'failed', scope: 'site' },
  }
}

/** Permanent if no host of the domain takes mail; a host that does may do so later, and one that is left out may be one. */
function outcomeOf(reasons: Left[], { isPartial }: Route): UnopenedOutcome {
  const reason = reasons.findLast(({ isAbsent }) => !isAbsent) ?? reasons.at(-1)
  if (reason?.isAbsent && isPartial) return { is: 'temporary', reason: reason.outcome.reason, scope: 'site' }
  return reason?.outcome ?? (refusedHere(550, '5.4.4', 'The domain has no mail hosts.') as UnopenedOutcome)
}

async function tryHost(visit: Visit): Promise<{ is: 'open'; session: MxSession } | Left | { is: 'unwanted' }> {
  const { tools, host, route, limits, steps } = visit
  const found = await usableAddresses(tools, host)
  if (found.is !== 'addresses') {
    steps.push({ is: 'ip-lookup-failed', host, reason: found.reason })
    if (found.is === 'failed') return leave(visit, found.reason)
    return { is: 'left', isAbsent: true, outcome: refusedHere(550, '5.4.4', found.reason) as UnopenedOutcome }
  }
  const demand = await tlsDemandOf(tools, { route, limits, host, isSecure: found.isSecure })
  if ('reason' in demand) return insecure(visit, demand)
  let known: Failure | null = null
  for (const address of found.addresses) {
    const tried = await tryAddress(visit, demand, address)
    if (tried.is !== 'unconnected') return tried
    if (!known || !hasNoWay(tried.failure)) known = tried.failure
  }
  return known ? leave(visit, sentenceOf(known, 'host'), known) : leave(visit, 'The host has no address.')
}

/** As to an IPv6 address on a server without IPv6: this says nothing about the host, so what its other address said counts. */
const NO_WAY = ['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']

const hasNoWay = (failure: Failure): boolean => failure.is === 'broken' && NO_WAY.includes(failure.error.code ?? '')

/** Connects to an address, and opens a session. `unconnected`: another address of the host may do better. */
async function tryAddress(
  visit: Visit,
  demand: TlsDemand,
  address: string,
  isPlain = knownAsPlain(visit, demand),
): Promise<Exclude<Tried, { is: 'tls failed' }>> {
  const tried = await tryOnce(visit, demand, address, isPlain)
  if (tried.is !== 'tls failed') return tried
  const { tools, host } = visit
  tools.plainHosts.set(host, tools.clock.now().getTime() + PLAIN_MS)
  return tryAddress(visit, demand, address, true)
}

type Tried = { is: 'open'; session: MxSession } | Left | { is: 'unconnected'; failure: Failure } | { is: 'tls failed' } | { is: 'unwanted' }

async function tryOnce(visit: Visit, demand: TlsDemand, address: string, isPlain: boolean): Promise<Tried> {
  const { tools, host, steps, isLast } = visit
  if (!(await visit.admitted())) return { is: 'unwanted' }
  const localAddress = sourceFor(tools.sources, address)
  let socket: Socket
  try {
    socket = await connectSocket({ host: address, port: tools.port, ...(localAddress && { localAddress }) }, tools.limits.connectMs)
  } catch (error) {
    const failure: Failure = { is: 'broken', stage: 'CONNECT', error: error as Error }
    steps.push({ is: 'failed', host, stage: 'CONNECT', peer: { ip: address }, reason: sentenceOf(failure, 'host') })
    return { is: 'unconnected', failure }
  }
  const opened = await openSession(visit, demand, socket, isPlain)
  if (opened.is === 'open') return opened
  const { stage, peer = {} } = opened
  const reason = sentenceOf(opened, 'host')
  const isTlsFailure = stage === 'STARTTLS' && opened.is === 'broken' && opened.error.code !== NO_TLS
  const isContinued = isTlsFailure && demand.tls === 'if offered'
  const fallback = isContinued ? ('plaintext' as const) : isLast ? ('none' as const) : ('next-host' as const)
  const reply = opened.is === 'refused' ? { reply: replyOf(opened.reply) } : {}
  const noTls = stage === 'STARTTLS' && opened.is === 'broken' && !isTlsFailure ? { noTls: true as const, required: true } : {}
  steps.push({ is: 'failed', host, stage, peer, reason, ...reply, ...(stage === 'STARTTLS' && { fallback }), ...noTls })
  return isContinued ? { is: 'tls failed' } : leave(visit, reason, opened)
}

/** The host takes no mail at all (RFC 7504). */
const TAKES_NO_MAIL = 521

/** What a refused session means for the mail: nothing for good, unless the host takes no mail at all. */
function leave({ host }: Visit, reason: string, failure?: Failure): Left {
  const fault = failure && faultOf(failure)
  if (failure?.is !== 'refused') {
    return { is: 'left', isAbsent: false, outcome: { is: 'temporary', reason, host, ...(fault && { fault }), scope: 'site' } }
  }
  const reply = replyOf(failure.reply)
  return reply.code === TAKES_NO_MAIL
    ? { is: 'left', isAbsent: true, outcome: { is: 'permanent', reason, host, reply } }
    : { is: 'left', isAbsent: false, outcome: { is: 'temporary', reason, host, reply, scope: 'site' } }
}

/** TLS with the host cannot be trusted, so it is not connected to. */
function insecure(visit: Visit, { reason, isDane }: Untrusted): Left {
  const { host, steps, isLast } = visit
  steps.push({
    is: 'failed',
    host,
    stage: 'STARTTLS',
    peer: { ...(isDane && { isDane }) },
    reason,
    fallback: isLast ? 'none' : 'next-host',
  })
  return leave(visit, reason)
}

/** Where a policy is tested, each connection is to show what it is worth. */
const knownAsPlain = ({ tools, host, route }: Visit, { tls }: TlsDemand): boolean =>
  tls === 'if offered' && !route.isTested && (tools.plainHosts.get(host) ?? 0) > tools.clock.now().getTime()

/** How long a host may take to notice that a connection is closed. Until then it counts it. */
const NOTICE_MS = 20

function afterClose(socket: Socket, call: () => void): void {
  // Of an event loop that was busy, the time alone proves nothing.
  const later = () => setImmediate(() => setImmediate(call))
  const noticed = () => AbortSignal.timeout(NOTICE_MS).addEventListener('abort', later)
  if (socket.closed) noticed()
  else socket.once('close', noticed)
}

type OpenSession = { is: 'open'; session: MxSession } | Failure

/** Resolves when the session is open, or cannot be opened. */
const openSession = (
  { tools, events, host, route, steps }: Visit,
  demand: TlsDemand,
  socket: Socket,
  isPlain: boolean,
): Promise<OpenSession> =>
  new Promise((resolve) => {
    const { tls, refusesCertificate, dane } = demand
    const startTls = isPlain ? 'never' : tls === 'if offered' ? 'if offered' : 'required'
    const { name, secureContext, limits } = tools
    const options = { name, host, startTls, secureContext, limits, credentials: null, isImplicitTls: false } as const
    const connection = openConnection<Waiting>(
      socket,
      {
        ...options,
        overlaps: 'after a success',
        rejectUnauthorized: tls === 'verified',
        ...(refusesCertificate && { refusesCertificate }),
        known: { ...(dane === 'records' && { isDane: true }), ...(isPlain && { hadBrokenTls: true }) },
      },
      {
        ready() {
          isOpen = true
          resolve({ is: 'open', session })
        },
        finished: (mail, result) => events.finished(session, mail, result),
        overlappable: () => events.overlappable(session),
        closed(failure, open) {
          session.isLeaving = true
          if (isOpen) events.closed(session, failure, open)
          afterClose(socket, () => (isOpen ? events.released(session) : resolve(failure)))
        },
      },
    )
    let isOpen = false
    const session: MxSession = { connection, host, dane, isTest: route.isTested === true, firstSteps: steps, mails: 0, isLeaving: false }
  })
