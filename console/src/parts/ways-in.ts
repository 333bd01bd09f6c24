import { useQuery } from '@tanstack/react-query'
import { call } from '../session/api.ts'
import { consoleKey } from './console-data.ts'

export type WaysIn = { local: boolean; single_sign_on: string | null; can_mail: boolean; passkey_origin: string | null }

/** The ways to sign in to this server. */
export const useWaysIn = (): WaysIn | undefined =>
  useQuery({ queryKey: consoleKey('sign-in'), queryFn: () => call<WaysIn>('GET', 'sign-in'), staleTime: Number.POSITIVE_INFINITY }).data

/** Whether passkeys work on this page: browsers bind them to one site. */
export const hasPasskeys = (ways: WaysIn | undefined): boolean =>
  ways?.passkey_origin === window.location.origin && window.PublicKeyCredential !== undefined
