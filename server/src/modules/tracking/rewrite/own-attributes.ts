import { randomInt } from 'node:crypto'
import { createMarks } from './rewrite.ts'

const NONCE_DIGITS = 24

/**
 * The marks of this process. Marked templates are made, filled in and freed of their marks in one process, and stored nowhere, so
 * that what marks look like need never be told to anybody.
 */
export const { numberLinks, wrapLinks } = createMarks(Array.from({ length: NONCE_DIGITS }, () => randomInt(10)).join(''))
