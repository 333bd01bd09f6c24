/** Passkeys, by the JSON forms of WebAuthn that browsers have. */
import { call } from './api.ts'

/** Whether the browser has passkeys, and their JSON forms. */
export const canUsePasskeys = (): boolean => 'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in PublicKeyCredential

const toJson = (credential: Credential | null): object => (credential as PublicKeyCredential).toJSON()

/** Signs in with a passkey of this device. */
export async function signInWithPasskey(): Promise<void> {
  const options = await call<PublicKeyCredentialRequestOptionsJSON>('POST', 'passkeys/sign-in/options')
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  await call('POST', 'passkeys/sign-in', { response: toJson(await navigator.credentials.get({ publicKey })) })
}

/** Adds a passkey of this device to the account. */
export async function addPasskey(name: string): Promise<void> {
  const options = await call<PublicKeyCredentialCreationOptionsJSON>('POST', 'passkeys/options')
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  await call('POST', 'passkeys', { name, response: toJson(await navigator.credentials.create({ publicKey })) })
}
