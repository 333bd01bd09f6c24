/** What tasks of other modules need of channels. */
export { compose } from './compose.ts'
export { composedText } from './mail-source.ts'
