/** The languages in which rules are described. */

export { german as de } from './de.ts'
export { english as en } from './en.ts'
