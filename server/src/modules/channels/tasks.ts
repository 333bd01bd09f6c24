/** What tasks of other modules need of channels. */
export { compose } from './compose.ts'
