/** The certificate of the SMTP listeners. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { StartError } from '../../lib/start-error.ts'
import { issueCertificate, loadOrCreateAuthority } from '../outgoing/dev-authority.ts'
import type { Config } from '../runtime/config.ts'

/** Certificate and key in PEM. */
export type Certificate = { cert: string; key: string }

/** The configured certificate, or in development one for this name. Null in production without one. Throws `StartError`. */
export async function loadCertificate(config: Config, name: string, now: Date): Promise<Certificate | null> {
  const { SMTP_TLS_CERT: certPath, SMTP_TLS_KEY: keyPath } = config
  if ((certPath === undefined) !== (keyPath === undefined)) throw new StartError('Set SMTP_TLS_CERT and SMTP_TLS_KEY together, or neither.')
  if (certPath === undefined || keyPath === undefined) return config.production ? null : developmentCertificate(config, name, now)
  const [cert, key] = [await read('SMTP_TLS_CERT', certPath), await read('SMTP_TLS_KEY', keyPath)]
  if (!belongTogether(cert, key))
    throw new StartError('SMTP_TLS_CERT and SMTP_TLS_KEY must be files with a certificate and its key in PEM.')
  return { cert, key }
}

async function developmentCertificate({ DATA_DIR }: Config, name: string, now: Date): Promise<Certificate> {
  return issueCertificate(await loadOrCreateAuthority(resolve(DATA_DIR), now), [...new Set([name, 'localhost', '127.0.0.1'])], now)
}

const read = (setting: string, path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`The file of ${setting} cannot be read (${error.code}). Correct its path or its permissions.`)
  })

function belongTogether(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}
