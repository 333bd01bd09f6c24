/**
 * Passkeys (D-CON-11): credentials of authenticators that verify their user, which sign in without a password. A challenge is signed once and within
 * minutes, and a credential belongs to one member.
 */
import type { Browser } from '../../infra/http/route.ts'
import { type Ctx, inTx, type MemberCtx } from '../../infra/runtime/ctx.ts'
import { lockRoom } from '../../infra/runtime/room.ts'
import { sha256 } from '../../infra/runtime/secrets.ts'
import { ApiError } from '../../lib/errors.ts'
import type { MemberId, PasskeyId } from '../../lib/ids.ts'
import { MINUTE_MS } from '../../lib/times.ts'
import { recordAction } from '../audit/index.ts'
import * as queries from './passkeys.queries.ts'
import { requireProof } from './profile.ts'
import { findMember } from './queries.ts'
import { type RelyingParty, relyingPartyOf } from './relying-party.ts'
import type { NewPasskey, Passkey, PasskeyAnswer, PasskeyInput, PasskeyOptions } from './schema.ts'
import { dropRecoveryCodes, holderOf, renewRecoveryCodes, secondFactorOf } from './second-factor.ts'
import { requireLocalSignIn, signedIn } from './sign-in.ts'
import { signsInAtProvider } from './single-sign-on.ts'

/** Loaded when it is used, because loading it takes longer than the rest of the module. */
const webauthn = () => import('@simplewebauthn/server')

const CHALLENGE_BYTES = 32
const HANDLE_BYTES = 32
const CHALLENGE_MS = 5 * MINUTE_MS
const PASSKEYS_MAX = 20

/** ES256, EdDSA and RS256: what authenticators have. */
const ALGORITHMS = [-7, -8, -257]

function relyingParty(ctx: Ctx): RelyingParty {
  const found = relyingPartyOf(ctx.baseUrl())
  if (found) return found
  throw new ApiError('validation_failed', 'Passkeys need a BASE_URL with a host name and HTTPS. Ask the operator of this server.')
}

/** The origin of the pages on which passkeys work, or null. */
export const passkeyOrigin = (ctx: Ctx): string | null => relyingPartyOf(ctx.baseUrl())?.origin ?? null

async function newChallenge(ctx: Ctx, memberId: MemberId | null): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = new Uint8Array(ctx.secrets.random(CHALLENGE_BYTES))
  const expiresAt = new Date(ctx.clock.now().getTime() + CHALLENGE_MS)
  await queries.insertChallenge(ctx, sha256(Buffer.from(challenge).toString('base64url')), memberId, expiresAt)
  return challenge
}

/** The challenge that a browser says was signed; the signature covers it. */
function challengeOf(clientData: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientData, 'base64url').toString()) as { challenge?: unknown }
    return typeof challenge === 'string' ? challenge : ''
  } catch {
    return ''
  }
}

/** Uses the challenge of an answer up, whether the answer is right or not. */
const useChallenge = async (ctx: Ctx, clientData: string, memberId: MemberId | null): Promise<string | undefined> => {
  const challenge = challengeOf(clientData)
  return (await queries.useChallenge(ctx, sha256(challenge), memberId)) === 1 ? challenge : undefined
}

/** The passkeys of the member. */
export const listPasskeys = async (ctx: MemberCtx): Promise<{ results: Passkey[] }> => ({ results: await queries.listPasskeys(ctx) })

/** Begins to add a passkey. The password is asked for, as for one-time codes. Throws 403, 422, and 429. */
export async function beginPasskey(ctx: MemberCtx, password: string | undefined): Promise<PasskeyOptions> {
  const { id: rpID } = relyingParty(ctx)
  const { email, name } = await requireProof(ctx, password)
  const known = await queries.listCredentials(ctx)
  requireRoom(known)
  const handle = await queries.giveHandle(ctx, ctx.secrets.random(HANDLE_BYTES).toString('base64url'))
  const { generateRegistrationOptions } = await webauthn()
  const options = await generateRegistrationOptions({
    rpName: 'Carillon',
    rpID,
    userName: email,
    userDisplayName: name,
    userID: new Uint8Array(Buffer.from(handle, 'base64url')),
    challenge: await newChallenge(ctx, ctx.memberId),
    timeout: CHALLENGE_MS,
    excludeCredentials: known.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  })
  return { options }
}

function requireRoom({ length }: readonly unknown[]): void {
  if (length >= PASSKEYS_MAX) throw new ApiError('quota_exceeded', `You may have at most ${PASSKEYS_MAX} passkeys. Remove one first.`)
}

/** What an authenticator made, checked. Undefined for anything that is not the answer to a challenge of the member on this site. */
async function verifiedCredential(ctx: MemberCtx, { credential_id: id, client_data, attestation }: PasskeyInput) {
  const { id: rpID, origin } = relyingParty(ctx)
  const challenge = await useChallenge(ctx, client_data, ctx.memberId)
  if (challenge === undefined) return undefined
  const response = { clientDataJSON: client_data, attestationObject: attestation }
  const { verifyRegistrationResponse } = await webauthn()
  const { registrationInfo } = await verifyRegistrationResponse({
    response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
    // The library throws what it refuses.
  }).catch(() => ({ registrationInfo: undefined }))
  return registrationInfo?.credential
}

/**
 * Adds a passkey. If it is the first second factor of the member, the result has recovery codes. Throws 422 for a wrong answer, 409 for a known
 * credential, and 429 for one too many.
 */
export async function addPasskey(ctx: MemberCtx, input: PasskeyInput): Promise<NewPasskey> {
  const credential = await verifiedCredential(ctx, input)
  if (!credential) throw new ApiError('validation_failed', 'The passkey could not be added. Begin again.', { reason: 'passkey_invalid' })
  return inTx(ctx, async (tx) => {
    const ctx = tx as unknown as MemberCtx & typeof tx
    await lockRoom(ctx, 'passkeys', ctx.memberId)
    requireRoom(await queries.listCredentials(ctx))
    const holder = holderOf(ctx)
    const { has_totp, has_passkey } = await secondFactorOf(ctx, holder)
    const made = await queries.insertPasskey(ctx, holder, {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      signCount: credential.counter,
      transports: input.transports ?? [],
      name: input.name,
    })
    if (!made) throw new ApiError('resource_already_exists', 'This passkey is already in use. Add another one.')
    await recordAction(ctx, null, 'member.passkey_added', ctx.memberId, { after: { passkey: made.name } })
    return { ...made, recovery_codes: has_totp || has_passkey ? [] : await renewRecoveryCodes(ctx, holder) }
  })
}

/** Removes a passkey of the member; with the last factor, the recovery codes too. Throws 403, 404, 422 for the only way in, and 429. */
export async function removePasskey(ctx: MemberCtx, id: PasskeyId, password: string | undefined): Promise<void> {
  const { password_hash } = await requireProof(ctx, password)
  await inTx(ctx, async (tx) => {
    const ctx = tx as unknown as MemberCtx & typeof tx
    const holder = holderOf(ctx)
    // Otherwise each of two removals at once would still find the passkey that the other one removes.
    await lockRoom(ctx, 'passkeys', ctx.memberId)
    const removed = await queries.deletePasskey(ctx, holder, id)
    if (!removed) throw new ApiError('resource_missing', 'You have no passkey with that identifier.')
    const hasOther = password_hash !== null || (await signsInAtProvider(ctx, holder)) || (await queries.hasPasskey(ctx, holder))
    if (!hasOther) throw new ApiError('validation_failed', 'This passkey is your only way to sign in. Add another one first.')
    await dropRecoveryCodes(ctx, holder)
    await recordAction(ctx, null, 'member.passkey_removed', ctx.memberId, { before: { passkey: removed.name } })
  })
}

/** Begins a sign-in with a passkey. The user chooses the passkey in the browser, so the reply reveals nothing about members. */
export async function beginPasskeySignIn(ctx: Ctx): Promise<PasskeyOptions> {
  const { id: rpID } = relyingParty(ctx)
  const challenge = await newChallenge(ctx, null)
  const { generateAuthenticationOptions } = await webauthn()
  return { options: await generateAuthenticationOptions({ rpID, challenge, timeout: CHALLENGE_MS, userVerification: 'required' }) }
}

/** The count of an authenticator whose answer is right. Undefined for a wrong one, and when the count says that there is a copy of the passkey. */
async function verifiedCount(
  ctx: Ctx,
  passkey: queries.KnownPasskey,
  challenge: string,
  { credential_id: id, client_data, authenticator_data, signature, user_handle }: PasskeyAnswer,
): Promise<number | undefined> {
  const { id: rpID, origin } = relyingParty(ctx)
  if (user_handle !== passkey.passkey_handle) return undefined
  const response = { clientDataJSON: client_data, authenticatorData: authenticator_data, signature, userHandle: user_handle }
  const { verifyAuthenticationResponse } = await webauthn()
  const publicKey = new Uint8Array(Buffer.from(passkey.public_key, 'base64url'))
  const result = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    credential: { id, publicKey, counter: passkey.sign_count },
    // The library throws what it refuses.
  }).catch(() => undefined)
  return result?.verified ? result.authenticationInfo.newCounter : undefined
}

/** Signs in with a passkey, which is both factors. Throws the same 401 for one that is unknown and for a wrong answer. */
export async function signInWithPasskey(ctx: Ctx, answer: PasskeyAnswer, browser: Browser): Promise<MemberCtx> {
  requireLocalSignIn(ctx)
  const challenge = await useChallenge(ctx, answer.client_data, null)
  const passkey = challenge === undefined ? undefined : await queries.findPasskey(ctx, answer.credential_id)
  const count = challenge === undefined || !passkey ? undefined : await verifiedCount(ctx, passkey, challenge, answer)
  if (!passkey || count === undefined || (await queries.notePasskeyUse(ctx, passkey, count)) === 0) throw refused()
  const member = await findMember(ctx, passkey.organization_id, passkey.member_id)
  if (!member) throw refused()
  return signedIn(ctx, member, browser)
}

const refused = () =>
  new ApiError('authentication_required', 'This passkey cannot sign in. Try again, or use your password.', {
    reason: 'passkey_invalid',
    headers: { 'www-authenticate': 'Bearer realm="api"' },
  })
