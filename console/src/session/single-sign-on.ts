/** The way to the provider of single sign-on and back. What ends it is kept in this browser, so that no other page can. */
import { CarillonError } from '@carillon/sdk'
import { call } from './api.ts'

const KEPT = 'carillon.single-sign-on'

type Kept = { binding: string; to: string }

/** Leaves for the provider. `to` is where the member wanted to go. */
export async function leaveForProvider(to: string): Promise<void> {
  const { url, binding } = await call<{ url: string; binding: string }>('POST', 'sign-in/single-sign-on/begin')
  const kept: Kept = { binding, to }
  sessionStorage.setItem(KEPT, JSON.stringify(kept))
  window.location.assign(url)
}

/** Signs in with the answer of the provider, which is in the query of the address. Returns where the member wanted to go. */
export async function comeBack(query: string): Promise<string> {
  const { binding, to } = JSON.parse(sessionStorage.getItem(KEPT) ?? '{"binding":"none","to":"/"}') as Kept
  sessionStorage.removeItem(KEPT)
  await call('POST', 'sign-in/single-sign-on', { parameters: query.replace(/^\?/, '') || 'none', binding })
  return to
}

/** Ends the session here and, if it began at the provider, also there. Returns the address to open next. Throws if the session continues. */
export async function signOut(): Promise<string> {
  try {
    return (await call<{ url: string | null }>('POST', 'sign-out')).url ?? '/sign-in'
  } catch (thrown) {
    if (thrown instanceof CarillonError && thrown.status === 401) return '/sign-in'
    throw thrown
  }
}
