/** Mailbox providers, by the names of their mail hosts, with the limits that they tolerate. Facts that operators publish. A table. */
import type { SomeLimits } from './limits.ts'

export type MailboxProvider = {
  key: string
  label: string /** The names of the mail hosts end in one of these. */
  suffixes: readonly string[]
  limits: SomeLimits
  /** The hosts take no email without TLS. */
  isTlsRequired?: true
}

export const PROVIDERS: readonly MailboxProvider[] = [
  {
    key: 'google',
    label: 'Google',
    suffixes: ['google.com', 'googlemail.com', 'smtp.goog'],
    limits: { connections: 5, mails_per_connection: 50 },
    isTlsRequired: true,
  },
  { key: 'yahoo', label: 'Yahoo', suffixes: ['yahoodns.net'], limits: { mails_per_connection: 20 } },
  {
    key: 'outlook',
    label: 'Outlook.com',
    suffixes: ['olc.protection.outlook.com'],
    limits: { connections: 5, mails_per_connection: 50 },
  },
  {
    key: 'microsoft365',
    label: 'Microsoft 365',
    suffixes: ['mail.protection.outlook.com', 'mx.microsoft'],
    limits: { connections: 5, mails_per_connection: 50 },
  },
  { key: 'apple', label: 'Apple', suffixes: ['icloud.com'], limits: { connections: 10, mails_per_connection: 5 } },
  {
    key: 'comcast',
    label: 'Comcast',
    suffixes: ['comcast.net'],
    limits: { connections: 25, mails_per_connection: 1000 },
    isTlsRequired: true,
  },
  {
    key: 'orange',
    label: 'Orange',
    suffixes: ['orange.fr', 'wanadoo.fr'],
    limits: { connections: 2, mails_per_connection: 100 },
    isTlsRequired: true,
  },
  {
    key: 'mimecast',
    label: 'Mimecast',
    suffixes: ['mimecast.com', 'mimecast.co.za', 'mimecast-offshore.com'],
    limits: { connections: 10 },
  },
  {
    key: 'proofpoint',
    label: 'Proofpoint',
    suffixes: ['pphosted.com', 'ppe-hosted.com'],
    limits: { connections: 10, mails_per_connection: 50 },
  },
  { key: 'proton', label: 'Proton', suffixes: ['protonmail.ch', 'proton.ch'], limits: { connections: 5, mails_per_connection: 50 } },
  {
    key: 'zoho',
    label: 'Zoho',
    suffixes: ['zoho.com', 'zoho.eu', 'zoho.in', 'zoho.com.au'],
    limits: { connections: 5, mails_per_connection: 50 },
  },
  { key: 'gmx', label: 'GMX and WEB.DE', suffixes: ['gmx.net', 'gmx.com', 'web.de'], limits: { connections: 5, mails_per_connection: 50 } },
  { key: 'mailru', label: 'Mail.ru', suffixes: ['mail.ru'], limits: { connections: 5, mails_per_connection: 20 } },
  { key: 'yandex', label: 'Yandex', suffixes: ['yandex.ru', 'yandex.net'], limits: { connections: 5, mails_per_connection: 20 } },
  { key: 'qq', label: 'QQ', suffixes: ['qq.com'], limits: { connections: 2, mails_per_connection: 20, mails_per_second: 5 } },
]
