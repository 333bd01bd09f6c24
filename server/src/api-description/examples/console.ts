/** Signing in to the console, and its members. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { CHANGED, CREATED } from './times.ts'

const project = {
  id: 1,
  name: 'Shop',
  role: 'admin',
  environment: 'live',
  has_faults: false,
  locale: 'en-AU',
  timezone: 'Australia/Sydney',
}

const session = {
  id: 12,
  member: { id: 1, email: 'kim@example.com', name: 'Kim Barton' },
  organisation: { id: 1, name: 'Default' },
  role: 'owner',
  projects: [project],
  expires_at: CHANGED,
}

const listed = {
  id: 12,
  is_current: true,
  address: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  created_at: CREATED,
  used_at: CREATED,
  expires_at: CHANGED,
}

const colleague = {
  id: 2,
  email: 'ana@example.com',
  name: 'Ana Ng',
  role: 'member',
  projects: [{ project_id: 1, role: 'editor' }],
  is_invited: false,
  has_totp: true,
  has_passkey: false,
  joined_at: CREATED,
  active_at: CHANGED,
  created_at: CREATED,
}

const invitation = {
  ...colleague,
  is_invited: true,
  has_totp: false,
  joined_at: null,
  active_at: null,
  invitation_url: 'https://carillon.example.com/accept-invitation#token=0cBqXv7yTn4Rk1Zs8Lm5Wd2Hf9Ja3Pe6Ug0Ix7Oy4Qw',
  is_mailed: true,
}

const profile = {
  id: 2,
  email: 'ana@example.com',
  name: 'Ana Ng',
  role: 'member',
  has_password: true,
  has_totp: true,
  has_passkey: false,
  recovery_codes_left: 10,
}
const PASSWORD = 'anvil lantern meadow kettle'
const NEXT = 'orchard velvet compass tin'

const RP = 'carillon.example.com'
const CREDENTIAL = 'AWm1b8QkQ2l6c0pUa1JvV3c'
const CLIENT_DATA = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiWnQ4cFF3In0'
const ceremony = { challenge: 'Zt8pQwVn3Lq6Xz1Bt9Km4Ys7Wd0Hf5Ja2Pe8Ug3Ix6Oy', timeout: 300_000 }
const passkey = { id: 3, name: 'MacBook', created_at: CREATED, used_at: CHANGED }

const system = {
  version: '0.1.0',
  node_version: '24.12.0',
  is_production: true,
  database: {
    version: '17.2',
    is_embedded: false,
    is_durable: true,
    size_bytes: 5_100_273_664,
    tables: [{ name: 'events', size_bytes: 3_221_225_472 }],
  },
  migrations: { applied: 96, name: 'sign_in_redirects', applied_at: CREATED, expected: 96 },
  queues: [
    { name: 'ingest', waiting: 0, oldest_at: null },
    { name: 'messages', waiting: 120, oldest_at: CHANGED },
  ],
  parked: 0,
  processes: [{ connected_at: CREATED }],
  disk: { free_bytes: 42_949_672_960, size_bytes: 107_374_182_400 },
  retention: [{ setting: 'MESSAGE_RETENTION_DAYS', value: 400 }],
  read_at: CHANGED,
}

export const consoleExamples: Words['examples'] = { Member: colleague, Invitation: invitation, Profile: profile }

export const consoleOperations: Words['operations'] = {
  createOwner: {
    body: {
      token: 'gq0pTjYbXl7cZ1m9Rk2vWs5uNf8hDa3eQy6iPo4tLxE',
      email: 'kim@example.com',
      name: 'Kim Barton',
      password: PASSWORD,
    },
    reply: session,
  },
  signIn: { body: { email: 'kim@example.com', password: PASSWORD }, reply: session },
  acceptInvitation: { body: { token: '0cBqXv7yTn4Rk1Zs8Lm5Wd2Hf9Ja3Pe6Ug0Ix7Oy4Qw', password: PASSWORD }, reply: session },
  createMember: {
    body: { email: 'ana@example.com', name: 'Ana Ng', role: 'admin' },
  },
  updateOrganisation: { body: { name: 'Bellbird' }, reply: { id: 1, name: 'Bellbird' } },
  updateMember: { body: { role: 'member', projects: [] } },
  updateProfile: { body: { name: 'Ana Ng' } },
  setProfilePassword: { body: { current_password: PASSWORD, password: NEXT } },
  beginProfileTotp: {
    body: { current_password: PASSWORD },
    reply: {
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      url: 'otpauth://totp/Carillon:ana%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Carillon',
    },
  },
  confirmProfileTotp: { body: { code: '492039' }, reply: { recovery_codes: ['J2KQ-7XNP-M4TW-ZRAH'] } },
  removeProfileTotp: { body: { current_password: PASSWORD } },
  lostPassword: { body: { email: 'ana@example.com' } },
  resetPassword: { body: { token: 'r8Vn3Lq6Xz1Bt9Km4Ys7Wd0Hf5Ja2Pe8Ug3Ix6Oy1Qc', password: NEXT } },
  getSignIn: { reply: { local: true, single_sign_on: 'Acme', can_mail: true, passkey_origin: 'https://carillon.example.com' } },
  signOut: { reply: { url: null } },
  listProfilePasskeys: { reply: { results: [passkey] } },
  beginProfilePasskeys: { body: { current_password: PASSWORD }, reply: { options: { ...ceremony, rp: { id: RP, name: 'Carillon' } } } },
  createProfilePasskey: {
    body: {
      name: passkey.name,
      credential_id: CREDENTIAL,
      client_data: CLIENT_DATA,
      attestation: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVik',
    },
    reply: { ...passkey, used_at: null, recovery_codes: ['J2KQ-7XNP-M4TW-ZRAH'] },
  },
  removeProfilePasskey: { body: { current_password: PASSWORD } },
  beginSignInPasskey: { reply: { options: { ...ceremony, rpId: RP, userVerification: 'required' } } },
  passkeySignIn: {
    body: {
      credential_id: CREDENTIAL,
      client_data: CLIENT_DATA,
      authenticator_data: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA',
      signature: 'MEUCIQDk3vTq0bqZ3m0mXoFZt1l2nN9h5c1kq8u5b2s7a4tYzQIgXo3p',
      user_handle: '7Jm2pVQeT0OaX1bK9sYf4w',
    },
    reply: session,
  },
  beginSignInSingleSignOn: {
    reply: {
      url: 'https://login.example.com/authorize?client_id=carillon&response_type=code&scope=openid+email+profile&state=Zt8pQw',
      binding: 'c2Vzc2lvbi1vZi1vbmUtYnJvd3Nlcg',
    },
  },
  singleSignInSignOn: {
    body: { parameters: 'code=SplxlOBeZQQYbYS6WxSbIA&state=Zt8pQw', binding: 'c2Vzc2lvbi1vZi1vbmUtYnJvd3Nlcg' },
    reply: session,
  },
  getSystem: { reply: system },
  getSession: { reply: session },
  getSessionEnd: {
    reply: { expires_at: '2026-11-19T22:10:00.000Z', latest_expires_at: '2026-11-26T10:10:00.000Z', remaining_seconds: 300 },
  },
  setPresence: {
    body: { project_id: 1, object: 'campaign', object_id: 12 },
    reply: { is_here: true, others: [{ member_id: 4, name: 'Leo Okafor', since: '2026-11-19T22:10:00.000Z' }] },
  },
  listSessions: { reply: { results: [listed] } },
}
