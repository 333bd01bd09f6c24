/** What worker threads do with links, and what the tasks of other modules need of this one. */
import { randomInt } from 'node:crypto'
import { task } from '../../infra/threads/task.ts'
import { createLinkRewriter } from './rewrite/rewrite.ts'

export { addPixel } from './rewrite/pixel.ts'
export { type Tracker, trackerOf } from './tracker.ts'

const NONCE_DIGITS = 24

/** HTML with its links numbered; `nonce` is what takes the numbers out again. It is random and never stored. */
export type NumberedLinks = { html: string; links: string[]; nonce: string }

/** Numbers the links of HTML. */
export const numberLinks = task({
  name: 'tracking.numberLinks',
  run(_, __: null, html: string): NumberedLinks {
    const nonce = Array.from({ length: NONCE_DIGITS }, () => randomInt(10)).join('')
    return { nonce, ...createLinkRewriter(nonce).numberLinks(html) }
  },
})

/** Gives each numbered link of rendered HTML another address. */
export const wrapLinks = (nonce: string, rendered: string, urlOf: (link: number, url: string) => string): string =>
  createLinkRewriter(nonce).wrapLinks(rendered, urlOf)
