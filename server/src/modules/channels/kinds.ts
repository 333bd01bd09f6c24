/** The channels, by their names in the API. */
export { email } from './email.ts'
export { inApp as in_app } from './in-app.ts'
export { push } from './push.ts'
export { text } from './text.ts'
export { webhook } from './webhook.ts'
