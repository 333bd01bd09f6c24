/** Passkeys of this browser: what the server asks for, what an authenticator answers. */
import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { call } from './api.ts'

type CreationOptions = Parameters<typeof startRegistration>[0]['optionsJSON']
type RequestOptions = Parameters<typeof startAuthentication>[0]['optionsJSON']

export type Passkey = { id: number; name: string; created_at: string; used_at: string | null }

/** Asks an authenticator to create a passkey, and adds the passkey. */
export async function addPasskey(name: string, proof: object): Promise<Passkey & { recovery_codes: string[] }> {
  const { options } = await call<{ options: CreationOptions }>('POST', 'profile/passkeys/begin', proof)
  const { id, response } = await startRegistration({ optionsJSON: options })
  return call('POST', 'profile/passkeys', {
    name,
    credential_id: id,
    client_data: response.clientDataJSON,
    attestation: response.attestationObject,
    transports: response.transports ?? [],
  })
}

/** Signs in with a passkey that the user chooses. */
export async function signInWithPasskey(): Promise<unknown> {
  const { options } = await call<{ options: RequestOptions }>('POST', 'sign-in/passkey/begin')
  const { id, response } = await startAuthentication({ optionsJSON: options })
  return call('POST', 'sign-in/passkey', {
    credential_id: id,
    client_data: response.clientDataJSON,
    authenticator_data: response.authenticatorData,
    signature: response.signature,
    user_handle: response.userHandle ?? '',
  })
}

/** Did the user close the dialog of the browser, or let it time out? Both are the same to a page. */
export const wasDismissed = (error: unknown): boolean => error instanceof Error && ['NotAllowedError', 'AbortError'].includes(error.name)
