/** The second factor (D-CON-8, D-CON-11): one-time codes of an app, passkeys, and recovery codes for when both are lost. */
import { type Ctx, type InTx, inTx, type MemberCtx } from '../../infra/runtime/ctx.ts'
import { sha256 } from '../../infra/runtime/secrets.ts'
import { ApiError, fault } from '../../lib/errors.ts'
import { base32, stepOf, totpUrl } from '../../lib/totp.ts'
import { recordAction } from '../audit/index.ts'
import { deletePasskeys, hasPasskey } from './passkeys.queries.ts'
import type { MemberRow } from './schema.ts'
import * as queries from './second-factor.queries.ts'

const SECRET_BYTES = 20
const RECOVERY_CODES = 10
const RECOVERY_BYTES = 10

const contextOf = ({ id }: queries.Holder) => `totp:${id}`

/** The member of a request. */
export const holderOf = ({ memberId, organisationId }: MemberCtx): queries.Holder => ({ id: memberId, organization_id: organisationId })

/** A recovery code as it is hashed: people leave out dashes and type small letters. */
const plain = (code: string) => code.toUpperCase().replace(/[^A-Z2-7]/g, '')

/** The confirmed secret of a member, or null. */
async function secretOf(ctx: Ctx, holder: queries.Holder): Promise<Buffer | null> {
  const { totp_secret, totp_confirmed_at } = await queries.findTotp(ctx, holder)
  return totp_secret === null || totp_confirmed_at === null ? null : Buffer.from(ctx.secrets.open(totp_secret, contextOf(holder)), 'base64')
}

/** Checks the second factor of a member who has one. Throws 401 without a code, and for one that is wrong or was used before. */
export async function requireSecondFactor(ctx: Ctx, member: MemberRow, code: string | undefined): Promise<void> {
  const secret = await secretOf(ctx, member)
  if (secret === null && !(await hasPasskey(ctx, member))) return
  if (code === undefined)
    throw secret === null
      ? refused('passkey_required', 'Sign in with your passkey, or enter a recovery code.')
      : refused('code_required', 'Enter the code from your authenticator app, or a recovery code.')
  if (!(await useCode(ctx, member, secret, code)))
    throw refused('code_invalid', 'The code is wrong or was used before. Wait for the next one.')
}

async function useCode(ctx: Ctx, holder: queries.Holder, secret: Buffer | null, code: string): Promise<boolean> {
  const step = secret === null ? undefined : stepOf(secret, code.replace(/\s/g, ''), ctx.clock.now())
  if (step !== undefined) return (await queries.useStep(ctx, holder, step)) === 1
  return (await queries.useRecoveryCode(ctx, holder, sha256(plain(code)))) === 1
}

const refused = (reason: 'code_required' | 'code_invalid' | 'passkey_required', message: string) =>
  new ApiError('authentication_required', message, { reason, headers: { 'www-authenticate': 'Bearer realm="api"' } })

/**
 * Creates a secret for one-time codes. It takes effect once a code from it has been confirmed. Throws 409 if there is a second factor
 * already.
 */
export async function beginTotp(ctx: MemberCtx, member: MemberRow): Promise<{ secret: string; url: string }> {
  if (await secretOf(ctx, member)) throw new ApiError('resource_already_exists', 'You already have a second factor. Remove it first.')
  const secret = ctx.secrets.random(SECRET_BYTES)
  await queries.setTotp(ctx, member, ctx.secrets.seal(secret.toString('base64'), contextOf(member)))
  return { secret: base32(secret), url: totpUrl('Carillon', member.email, secret) }
}

/** Confirms the secret with a code from it, and returns recovery codes, which are shown once. Throws 422. */
export const confirmTotp = (ctx: MemberCtx, code: string): Promise<{ recovery_codes: string[] }> =>
  inTx(ctx, async (ctx) => {
    const holder = holderOf(ctx as unknown as MemberCtx)
    const { totp_secret } = await queries.findTotp(ctx, holder)
    const secret = totp_secret === null ? null : Buffer.from(ctx.secrets.open(totp_secret, contextOf(holder)), 'base64')
    const step = secret === null ? undefined : stepOf(secret, code.replace(/\s/g, ''), ctx.clock.now())
    if (step === undefined || (await queries.confirmTotp(ctx, holder)) === 0)
      throw fault('validation_failed', 'code', 'The code is wrong. Check that the clock of your device is correct.')
    await queries.useStep(ctx, holder, step)
    await recordAction(ctx, null, 'member.second_factor_added', ctx.memberId, {})
    return { recovery_codes: await renewRecoveryCodes(ctx, holder) }
  })

/** Replaces the recovery codes of a member, and returns them, which are shown once. */
export async function renewRecoveryCodes(ctx: InTx<Ctx>, holder: queries.Holder): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => base32(ctx.secrets.random(RECOVERY_BYTES)))
  await queries.deleteRecoveryCodes(ctx, holder)
  await queries.insertRecoveryCodes(ctx, holder, codes.map(sha256))
  return codes.map((code) => code.replace(/(.{4})(?!$)/g, '$1-'))
}

/** Deletes the recovery codes of a member who no longer has a second factor, because nothing uses them. */
export async function dropRecoveryCodes(ctx: InTx<Ctx>, holder: queries.Holder): Promise<void> {
  const { has_totp, has_passkey } = await secondFactorOf(ctx, holder)
  if (!has_totp && !has_passkey) await queries.deleteRecoveryCodes(ctx, holder)
}

/** Removes the one-time codes of a member. Passkeys stay. */
export async function removeTotp(ctx: InTx<Ctx>, holder: queries.Holder): Promise<void> {
  await queries.setTotp(ctx, holder, null)
  await dropRecoveryCodes(ctx, holder)
}

/** Removes every second factor of a member. */
export async function removeSecondFactors(ctx: InTx<Ctx>, holder: queries.Holder): Promise<void> {
  await deletePasskeys(ctx, holder)
  await removeTotp(ctx, holder)
}

type SecondFactor = { has_totp: boolean; has_passkey: boolean; recovery_codes_left: number }

/** Which second factors a member has, and how many recovery codes are left. */
export const secondFactorOf = async (ctx: Ctx | InTx<Ctx>, holder: queries.Holder): Promise<SecondFactor> => ({
  has_totp: (await secretOf(ctx, holder)) !== null,
  has_passkey: await hasPasskey(ctx, holder),
  recovery_codes_left: await queries.countRecoveryCodes(ctx, holder),
})
