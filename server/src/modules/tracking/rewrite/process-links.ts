import { randomInt } from 'node:crypto'
import { createLinkRewriter } from './rewrite.ts'

const NONCE_DIGITS = 24

/**
 * Link rewriting of this process. Numbered templates are made, rendered and freed of their boundaries in one process, and stored
 * nowhere, so that nothing else has to know what boundaries look like.
 */
export const { numberLinks, wrapLinks } = createLinkRewriter(Array.from({ length: NONCE_DIGITS }, () => randomInt(10)).join(''))
