/** Signed requests of Amazon SNS, for the recording of SES. */
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { RecordedCall, RecordedReply } from './recording.ts'

export const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:ses-events'

/** A certificate like that of SNS, and its key. They were created for this file. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIDGzCCAgOgAwIBAgIUVTDYCqTP3UrsNeuyh4ULTOocC70wDQYJKoZIhvcNAQEL
BQAwHDEaMBgGA1UEAwwRc25zLmFtYXpvbmF3cy5jb20wIBcNMjYxMTIxMTY0NTE5
WhgPMjA1MTA3MTMxNjQ1MTlaMBwxGjAYBgNVBAMMEXNucy5hbWF6b25hd3MuY29t
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlPELtJF8hbJ67GebDv8P
l05omRLwKvawgnffv058Jq3RtRpa+3ZVOl7QlmzGphPXFSVrpkJktHrS/qVp9Qh9
MAMCS07bIKNr5y2isxL5IsAnEBpYJ3HTGOLYRH6QEZp0ZE7fr0V3RH4bTxG0pUtL
xBI8gZwJckrEKiChRNTrR3RTbfDzfxCOkjBAJ+6dmWWS4N8+i+pw2xaTqd0eSNVw
A99s1HEZ6QCtFCiC6jT3UFrANMxM8kZKWHIHT0haOzJyZV+WZGV13knBFRnzGKLF
JmcEnBTmRJQTDx64em0zxZLV45R6Lx9U2KCimfMRGE+DgYazTEkO0p0Bw/HZF2iM
LQIDAQABo1MwUTAdBgNVHQ4EFgQUwNYQzz6ltZ1Sp5n6TLqlLFe4Z8IwHwYDVR0j
BBgwFoAUwNYQzz6ltZ1Sp5n6TLqlLFe4Z8IwDwYDVR0TAQH/BAUwAwEB/zANBgkq
hkiG9w0BAQsFAAOCAQEAKbBqm/8+Fm0dHu12gXs/qd7H10e12q39fIUN/BPL/zI0
gQFxeNN3fJUzByLVdMo1RY9u4DMSZ+qwe5ofsxnLRwmHZOK+30/K9XLGoXPzuiuR
LYO+/wqKsbTRE1oK7R9lN7vQGU6Yp+dMG+tKCnH9Ur/5we6zhDOc9OkzeZ8VeR2N
0xdfulAIr4E3lQa1p9y+Oua9YWDF7sd0gqyiYyAWe9kCr1zORh6NtjpZafOrYwJG
fQtz1tsyfJMKJzcuKqBdizqMczeVZPzmIUkjsSYWlGgbjRvTsVw4HG8yLGE3EAE0
llSZIN01V1cxGM/Jc3CeWHthF76rfyOX4awFtf8Aow==
-----END CERTIFICATE-----`
const KEY = `-----BEGIN PRIVATE KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCU8Qu0kXyFsnrs
Z5sO/w+XTmiZEvAq9rCCd9+/TnwmrdG1Glr7dlU6XtCWbMamE9cVJWumQmS0etL+
pWn1CH0wAwJLTtsgo2vnLaKzEvkiwCcQGlgncdMY4thEfpARmnRkTt+vRXdEfhtP
EbSlS0vEEjyBnAlySsQqIKFE1OtHdFNt8PN/EI6SMEAn7p2ZZZLg3z6L6nDbFpOp
3R5I1XAD32zUcRnpAK0UKILqNPdQWsA0zEzyRkpYcgdPSFo7MnJlX5ZkZXXeScEV
GfMYosUmZwScFOZElBMPHrh6bTPFktXjlHovH1TYoKKZ8xEYT4OBhrNMSQ7SnQHD
8dkXaIwtAgMBAAECggEAC/gE40lPsuTBWQ8IWF+pzpRn9mkdsK4rSAi/C74QXwFX
2VBZYFzFg4/L/lKWchElFxdvO6iZNCGso/cB+UVp3fpX7FpVZJ2NVcIGkZJkP+Um
Hnanf9/3QUg1beenxypc0RS/h/Oynmft5OA83o2a9JIsl5PE9JDKi8Icg44CrDau
6gDh13Tv2TWSUwXJ3Ijx9w6ErJt8X36uwv1nP/TNNkZpoFyciV4pSAaO6ZPeHu+o
D0n7fUmj2RrJ6kSLEY5yLbwD+GdNCOA2DOkuy4Kb3uHEIHVl4Tc20/9zLsphlJuS
8C291qfDZPjzKCa8xBCNtPGSNjnaAe5qM6T/tMaA5wKBgQDRWeEnZs4izc/qb867
WKOtUwE3y/1E79qzLiTO9qwaYiU51ykdmghERt5iJQphJlNe8ZqKLZjPClZnrLTZ
i7xdlfBh4G93G7BzF+P7pES5dNGUbInU+5jLzXSGf5u7vXKUoHZpsx8MsCyA3qQM
8Nh9GekEPIWOwG6CNTre1PfvcwKBgQC2ITIyG94HPH5M/UP7Uc3nNPAMk6LAfl78
CUk58JN9GUBK0Z5ec4oCwyNXR1owiDIPF2U/qAQrYTqcZln7Ukbe0jIX7+7UDGZd
qNzU7sUUGn/6FDMLUy9WK1C+4s1eH6Uy3JFXEeHmE+AP4x/rAjDFiTc1Tjkr8G0m
I1oLTtlt3wKBgQCidedeFk+dfq38tituA4lxNdraG/k9iAzlw8dYvOAt0UAmNKx5
hlEn+v8Ulr4JSh6krUVKObw93z3SUpo9wEy7K2JR8kNN4TT6++02GPIkIV2KmvgT
SfP3JEdrIJgQByJl6Gg7+n7777N5hk00paq62mKToQvcDcU0Um6PAiIttQKBgA4W
91klCsIojeTK2w2AQJuYXtG6Qib+H78DwOR4lhBhebXQDZ5k9dJM4lkILhP/FVBR
kQWhq+DnPq+Gw4NL1Cu8ux9a8nD5HJo2TA81AY4Slr/z/BbuMoVKCI8b4KNdc1xB
8AR6X6168CSKf5egrcE6Ykj/ajDaAremmHqzeOKlAoGBAIplhxdlmpY6cWo4kC9j
o4WQPZpemnZYEz/pXBMiz9TcvS558T7z6KhpIa0BsF4xa3Tp5SB/TKivZCSnIQTS
9NtDP7jNxRpzTj3z1pPATQONTaFufqIWXJRTI0MHngMi4O8FBkPGJdddrJbsTG3g
mVTUxKX/7RRSsY8TMQDaqzis
-----END PRIVATE KEY-----`

/** A key that does not belong to SNS. */
export const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

/** Certificates are cached by URL, so each call has its own. */
let calls = 0
const certificateUrl = () => `https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-${++calls}.pem`
/** The response with the certificate. */
export const withCertificate: RecordedReply[] = [{ status: 200, body: CERTIFICATE }]

const SIGNED = ['Message', 'MessageId', 'SubscribeURL', 'Subject', 'Timestamp', 'Token', 'TopicArn', 'Type']

type Signing = { version?: string; key?: string | KeyObject; topic?: string }

/** Signed as by SNS: names and values in order, each on its own line. */
export function signed(
  now: Date,
  members: Record<string, string>,
  { version = '2', key = KEY, topic = TOPIC }: Signing = {},
): RecordedCall {
  const notice: Record<string, string> = {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: topic,
    Timestamp: now.toISOString(),
    SignatureVersion: version,
    SigningCertURL: certificateUrl(),
    ...members,
  }
  const text = SIGNED.flatMap((name) => (notice[name] === undefined ? [] : [`${name}\n${notice[name]}\n`])).join('')
  const Signature = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
    .update(text)
    .sign(key, 'base64')
  return { headers: { 'content-type': 'text/plain; charset=UTF-8' }, body: JSON.stringify({ ...notice, Signature }) }
}

/** The call with other members and the old signature. */
export const altered = ({ body = '', ...call }: RecordedCall, members: object): RecordedCall => ({
  ...call,
  body: JSON.stringify({ ...JSON.parse(body), ...members }),
})
