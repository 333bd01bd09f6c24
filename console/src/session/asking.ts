/**
 * How the console asks the server. A request without input of the member shortly before says so: the page makes it by itself, as when it reads again by a
 * timer, and it does not keep the session alive (D-CON-3).
 */
const INPUTS = ['pointerdown', 'pointermove', 'wheel', 'touchstart', 'touchmove', 'keydown', 'input', 'click']
const RECENT_MS = 60_000

/** To open the page is input too. */
let inputAt = Date.now()

/** Notes all input of the page. */
export function watchInput(page: EventTarget): void {
  const note = () => {
    inputAt = Date.now()
  }
  for (const name of INPUTS) page.addEventListener(name, note, { capture: true, passive: true })
}

/** Sends a request of the member who is signed in. */
export const ask: typeof fetch = (to, init = {}) => {
  if (Date.now() - inputAt < RECENT_MS) return fetch(to, init)
  const headers = new Headers(init.headers)
  headers.set('carillon-background', '1')
  return fetch(to, { ...init, headers })
}
