import { StartError } from './lib/start-error.ts'

/** The settings of ports for email that comes in. */
export type MailPortSetting = 'INBOUND_PORT' | 'SUBMISSION_PORT' | 'SUBMISSION_TLS_PORT'

/** Where something listens, and the setting of its port. */
type Listening = { host: string; port: number; setting: 'PORT' | 'OPS_PORT' | MailPortSetting }

const HOSTS = {
  PORT: 'HOST',
  OPS_PORT: 'OPS_HOST',
  INBOUND_PORT: 'SMTP_HOST',
  SUBMISSION_PORT: 'SMTP_HOST',
  SUBMISSION_TLS_PORT: 'SMTP_HOST',
}

/** Why a port cannot be listened on, for the operator, or the error itself if the operator cannot fix it. */
export function listenProblem(error: NodeJS.ErrnoException, { host, port, setting }: Listening): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} of ${host} is taken. Stop the program that listens there, or set ${setting} to another port.`)
    case 'EACCES':
      return new StartError(`This user may not listen on port ${port}. Set ${setting} to 1024 or above.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartError(`${host} is not an address of this machine. Correct ${HOSTS[setting]}.`)
    default:
      return error
  }
}
