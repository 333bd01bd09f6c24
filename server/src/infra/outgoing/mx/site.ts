/**
 * The mails for one site, and the sessions that carry them. A session takes the next mail when it has finished one, and, after a first
 * success, while it waits for the reply to one (RFC 2920). There are never more sessions than the limit, those that are ending included
 * (D-MTA-13).
 */
import type { MailResult, OpenMail } from '../../../lib/smtp/session.ts'
import type { Failure } from '../smtp/failures.ts'
import { faultOf, sentenceOf } from '../smtp/words.ts'
import { closedAtOnce, type Opened, type OpeningTools, openAt, type SessionEvents, type Unopened } from './opening.ts'
import type { AttemptOutcome, OutgoingMail, RecipientOutcome, Route, SiteLimits } from './outcome.ts'
import { lackingOutcomes, type Outcomes, outcomesOf, sameFor } from './recipients.ts'
import { envelopeOf, isOnRoute, isSameRoute, isUnread, type MxSession, mayCarry, type Waiting as WaitingMail } from './session.ts'

/** A mail with what is to be done with its outcome. */
type Waiting = WaitingMail & { resolve(outcome: AttemptOutcome): void; reject(error: unknown): void; startedMs: number }

export type MxSite = {
  deliver(route: Route, mail: OutgoingMail, limits: SiteLimits): Promise<AttemptOutcome>
  /** Whether it has neither mails nor connections. */
  isEmpty(): boolean
  close(): void
}

type State = {
  readonly tools: OpeningTools
  readonly events: SessionEvents
  readonly sessions: Set<MxSession>
  readonly waiting: Waiting[]
  limits: SiteLimits
  opening: number
  /** How many connections the site seems to take, and until when that counts, by `performance.now`. */
  taken: { connections: number; untilMs: number }
  /** Ends the wait for the time at which the site may get another connection. */
  wait: AbortController | null
  isClosed: boolean
}

/** For how long no more connections are tried than a site took when it refused one. */
const TAKEN_MS = 10_000
export const STOPPING: RecipientOutcome = { is: 'temporary', reason: 'This server is stopping.', scope: 'site' }

/** `onEmpty` is called when the site has nothing left. */
export function createSite(tools: OpeningTools, onEmpty: () => void): MxSite {
  const events: SessionEvents = {
    finished: (session, mail, result) => finished(state, session, mail as Waiting, result),
    overlappable: (session) => {
      // Mails for which a connection is being opened do not wait for the reply to another one.
      if (state.waiting.length > state.opening) giveNext(state, session)
    },
    closed: (session, failure, open) => closed(state, session, failure, open as OpenMail<Waiting>[]),
    released(session) {
      state.sessions.delete(session)
      distribute(state)
      if (isEmpty(state)) onEmpty()
    },
  }
  const limits = { connections: 1, mailsPerConnection: 1 }
  const state: State = {
    tools,
    events,
    sessions: new Set(),
    waiting: [],
    limits,
    opening: 0,
    taken: { connections: 0, untilMs: 0 },
    wait: null,
    isClosed: false,
  }
  return {
    deliver: (route, mail, limits) =>
      new Promise((resolve, reject) => {
        state.limits = limits
        const begun = { steps: [...route.steps], losses: 0, isOpening: false, failed: null, startedMs: performance.now() }
        const waiting: Waiting = { route, mail, resolve, reject, ...begun }
        state.waiting.push(waiting)
        distribute(state)
      }),
    isEmpty: () => isEmpty(state),
    close() {
      state.isClosed = true
      state.wait?.abort()
      for (const mail of state.waiting.splice(0)) finish(mail, { steps: [], recipients: sameFor(mail.mail.to, STOPPING) })
      for (const { connection } of [...state.sessions]) connection.destroy('ECLOSED', 'This server is stopping')
    },
  }
}

const isEmpty = ({ sessions, waiting, opening }: State): boolean => sessions.size === 0 && waiting.length === 0 && opening === 0

function finish({ steps, startedMs, resolve }: Waiting, { steps: last, recipients }: Outcomes): void {
  resolve({ steps: [...steps, ...last], recipients, elapsedMs: performance.now() - startedMs })
}

/** Gives waiting mails to idle sessions, and opens further ones while there are fewer than allowed. */
function distribute(state: State): void {
  const { sessions, waiting } = state
  endRevoked(state)
  if (waiting.length === 0) {
    state.wait?.abort()
    return
  }
  for (const session of sessions) if (session.connection.isIdle()) giveNext(state, session)
  for (;;) {
    const next = waiting.find(({ isOpening, failed }) => !isOpening && !failed)
    if (!next || state.isClosed) break
    if (sessions.size + state.opening >= connectionsMax(state)) {
      makeRoom(state)
      break
    }
    const connection = state.limits.admitConnection?.()
    if (connection?.isAdmitted === false) {
      postponeStranded(state, connection.nextAt)
      if (waiting.length > 0 && !state.wait) void distributeAt(state, connection.nextAt)
      break
    }
    void open(state, next)
  }
  if (state.opening === 0) failStranded(state)
}

/** The sessions that could carry the waiting mails may be slow, so these get the next connection that the site takes. */
async function distributeAt(state: State, to: number): Promise<void> {
  const { clock } = state.tools
  const wait = new AbortController()
  state.wait = wait
  await clock.sleep(Math.max(1, to - clock.now().getTime()), wait.signal)
  state.wait = null
  distribute(state)
}

const REVOKED: RecipientOutcome = { is: 'temporary', reason: 'This server no longer holds the email.', scope: 'recipient' }

const isRevoked = ({ mail }: Waiting): boolean => mail.mayBeSent?.() === false

/** No connection is opened for what may not be sent any more. A mail for which one is being opened ends when that is open. */
function endRevoked({ waiting }: State): void {
  for (const mail of waiting.filter((mail) => !mail.isOpening && isRevoked(mail))) {
    waiting.splice(waiting.indexOf(mail), 1)
    finish(mail, { steps: [], recipients: sameFor(mail.mail.to, REVOKED) })
  }
}

const connectionsMax = ({ limits, taken }: State): number =>
  performance.now() < taken.untilMs ? Math.min(limits.connections, taken.connections) : limits.connections

/** Ends an idle session, which no waiting mail may use. Its connection counts until it is closed. */
function makeRoom({ sessions }: State): void {
  if ([...sessions].some(({ isLeaving }) => isLeaving)) return
  const idle = [...sessions].find(({ connection }) => connection.isIdle())
  if (idle) leave(idle)
}

function leave(session: MxSession): void {
  session.isLeaving = true
  session.connection.quit()
}

/** Gives a session the first mail that it may carry. */
function giveNext(state: State, session: MxSession): void {
  const { waiting, limits } = state
  while (!session.isLeaving && session.connection.isFree() && session.mails < limits.mailsPerConnection) {
    const at = waiting.findIndex(({ route }) => mayCarry(session, route, limits))
    const [mail] = at === -1 ? [] : waiting.splice(at, 1)
    if (!mail || give(session, mail)) return
  }
}

/** Returns false if the mail is not sent, because it may not be sent or the host cannot take it: it has its outcome then. */
function give(session: MxSession, waiting: Waiting): boolean {
  const { mail, steps, route } = waiting
  const { connection, host } = session
  if (isRevoked(waiting)) {
    finish(waiting, { steps: [], recipients: sameFor(mail.to, REVOKED) })
    return false
  }
  steps.push(...session.firstSteps.splice(0).filter((step) => isOnRoute(step, route)))
  const envelope = envelopeOf(mail)
  const lack = connection.lacks(envelope, mail.content.length)
  if (lack) {
    finish(waiting, lackingOutcomes(mail.to, host, connection.peer(), lack))
    return false
  }
  session.mails++
  connection.send(waiting, envelope, mail.content, mail.mayBeSent)
  return true
}

function finished(state: State, session: MxSession, waiting: Waiting, { replies }: MailResult): void {
  const { connection, host } = session
  if (!state.isClosed && isUnread(session, waiting, replies)) {
    // The session is closed next.
    retry(state, waiting)
    return
  }
  finish(waiting, outcomesOf(waiting.mail.to, { host, peer: connection.peer(), replies }))
  if (session.mails < state.limits.mailsPerConnection) giveNext(state, session)
  else if (connection.isIdle() && !session.isLeaving) leave(session)
  // It may be in the way of mails that need another host.
  if (connection.isIdle()) distribute(state)
}

/** A connection was closed: by the host, by a failure, or because it was idle. Its mails have an outcome, or go over another one. */
function closed(state: State, session: MxSession, failure: Failure, open: OpenMail<Waiting>[]): void {
  const { host, connection } = session
  // The host may soon have room for another connection.
  if (session.mails > 0) for (const mail of state.waiting) mail.failed = null
  const reason = sentenceOf(failure, 'host')
  const fault = faultOf(failure)
  for (const { mail, stage, replies, hasBody } of open.toReversed()) {
    if (!state.isClosed && isUnread(session, mail, replies, stage)) retry(state, mail)
    else
      finish(
        mail,
        outcomesOf(mail.mail.to, { host, peer: failure.peer ?? connection.peer(), replies, broken: { stage, reason, hasBody, fault } }),
      )
  }
  distribute(state)
}

/** It goes over another connection. */
function retry({ waiting }: State, mail: Waiting): void {
  mail.losses++
  mail.failed = null
  waiting.unshift(mail)
}

async function open(state: State, mail: Waiting): Promise<void> {
  state.opening++
  mail.isOpening = true
  let opened: Opened
  try {
    const isWanted = () => state.waiting.includes(mail) && !isRevoked(mail)
    opened = await openAt(state.tools, mail.route, state.limits, state.events, isWanted)
  } catch (error) {
    drop(state, mail)
    mail.reject(error)
    return
  } finally {
    state.opening--
    mail.isOpening = false
  }
  if (opened.is === 'failed') failed(state, mail, opened)
  else if (opened.is === 'open' && state.isClosed) opened.session.connection.destroy('ECLOSED', 'This server is stopping')
  else if (opened.is === 'open' && opened.session.isLeaving) failed(state, mail, closedAtOnce(opened.session))
  else if (opened.is === 'open') {
    state.sessions.add(opened.session)
    // The mail for which it was opened goes first, if it still waits.
    if (drop(state, mail)) give(opened.session, mail)
  }
  distribute(state)
}

function drop({ waiting }: State, mail: Waiting): boolean {
  const at = waiting.indexOf(mail)
  if (at !== -1) waiting.splice(at, 1)
  return at !== -1
}

/** No host could be connected to. If other sessions work, or may do so soon, the mail waits for one of them: a host may limit connections. */
function failed(state: State, mail: Waiting, { steps, outcome }: Unopened): void {
  const open = state.opening + [...state.sessions].filter(({ isLeaving }) => !isLeaving).length
  if (open > 0) state.taken = { connections: open, untilMs: performance.now() + TAKEN_MS }
  // It was sent over another session meanwhile.
  if (!state.waiting.includes(mail)) return
  mail.steps.push(...steps)
  mail.failed = outcome
  if (state.opening > 0 || canBeCarried(state, mail)) return
  for (const other of [...state.waiting]) {
    if (other === mail || other.isOpening || other.failed || !isSameRoute(other.route, mail.route)) continue
    other.steps.push(...steps.map((step) => (step.is === 'failed' ? { ...step, isShared: true as const } : step)))
    other.failed = { ...outcome, isShared: true }
  }
}

const canBeCarried = ({ sessions, limits }: State, { route }: Waiting, mailsMax = Number.POSITIVE_INFINITY): boolean =>
  [...sessions].some((session) => !session.isLeaving && session.mails < mailsMax && mayCarry(session, route, limits))

/** Ends the mails that no session can carry, and for which none is being opened, when there is no connection for them before a time. */
function postponeStranded(state: State, to: number): void {
  if (state.opening > 0) return
  for (const mail of state.waiting.filter((mail) => !mail.failed && !canBeCarried(state, mail, state.limits.mailsPerConnection))) {
    drop(state, mail)
    mail.resolve({ steps: [], recipients: new Map(), elapsedMs: performance.now() - mail.startedMs, postponedTo: to })
  }
}

/**
 * Ends the mails whose connection could not be opened when no session is left that could carry them. While one that has carried mails is being
 * closed, those that have its host wait, because the host may have room for another connection then.
 */
function failStranded(state: State): void {
  const leaving = new Set([...state.sessions].flatMap(({ isLeaving, mails, host }) => (isLeaving && mails > 0 ? [host] : [])))
  for (const mail of [...state.waiting]) {
    if (!mail.failed || canBeCarried(state, mail) || mail.route.hosts.some(({ host }) => leaving.has(host))) continue
    drop(state, mail)
    finish(mail, { steps: [], recipients: sameFor(mail.mail.to, mail.failed) })
  }
}
