import { databaseHosts } from '../../lib/database-url.ts'
import { StartError } from '../../lib/start-error.ts'
import { UNREACHABLE } from './database-away.ts'
import { isReadOnly } from './db.ts'
import { UnusableServer } from './hosts.ts'

/** Also those of a socket in the file system. */
const CANNOT_BE_REACHED = [...UNREACHABLE, 'ENOENT', 'EACCES']

type Where = { host: string; user: string; database: string }

function whereOf(url: string): Where {
  const urls = (databaseHosts(url)?.urls ?? [url]).map((one) => new URL(one))
  const [{ username, pathname }] = urls as [URL]
  const user = decodeURIComponent(username)
  return {
    host: urls.map(({ host }) => host || 'the local socket').join(' or '),
    user,
    database: decodeURIComponent(pathname.slice(1)) || user,
  }
}

/** Why a database cannot be used, for its operator, without the password; or the error itself if the operator cannot fix it. */
export function connectionProblem(error: unknown, url: string): unknown {
  if (!(error instanceof Error)) return error
  const cause = error.cause instanceof Error ? error.cause : error
  const message = sentenceOf(cause, whereOf(url))
  return message === null ? error : new StartError(message)
}

function sentenceOf(error: Error & { code?: string }, { host, user, database }: Where): string | null {
  const { code = '', message } = error
  if (error instanceof UnusableServer) return `${message} It is at ${host}.`
  if (isReadOnly(error)) return `The database “${database}” at ${host} is read-only. Point DATABASE_URL to the primary.`
  if (CANNOT_BE_REACHED.includes(code)) return `PostgreSQL at ${host} cannot be reached (${code}). Start it, or correct DATABASE_URL.`
  if (/timeout expired|Connection terminated/.test(message))
    return `PostgreSQL at ${host} does not answer. Start it, or correct DATABASE_URL.`
  if (code.startsWith('28') || message.startsWith('SASL'))
    return `PostgreSQL at ${host} refused the user “${user}” or the password. Correct DATABASE_URL.`
  switch (code) {
    case '3D000':
      return `PostgreSQL at ${host} has no database “${database}”. Create it, or correct DATABASE_URL.`
    case '42501':
      return `The user “${user}” does not have enough privileges in the database “${database}” (${message}). Make it the owner of the database.`
    case '08P01':
      return `A pooler at ${host} refused the connection (${message}). Set DATABASE_DIRECT_URL to the database itself.`
    case '53300':
      return `PostgreSQL at ${host} has no connections left. Raise max_connections, or run fewer processes.`
    case '57P03':
      return `PostgreSQL at ${host} is starting or stopping. Start the server again in a moment.`
    default:
      return /SSL|certificate/i.test(message) ? `No secure connection to PostgreSQL at ${host}: ${message}. Correct DATABASE_URL.` : null
  }
}
