/** The pages by which people decide what they get, one line each. */
import { type PublicPage, publicPage } from '../../../infra/http/public-page.ts'
import { confirm, showConfirmation } from './confirm.ts'
import { savePreferences, showPreferences } from './preferences.ts'
import { showUnsubscribe, unsubscribe } from './unsubscribe.ts'

const IN_A_MESSAGE = 'The link is signed, and is in messages to the person that it is about.'
const ASKED = 'The link is signed, and is in the message that asks the person to confirm.'

export const consentPages: PublicPage[] = [
  publicPage({
    method: 'GET',
    path: '/s/u/{token}',
    summary: 'Show what unsubscribing means. Changes nothing.',
    open: IN_A_MESSAGE,
    run: showUnsubscribe,
  }),
  publicPage({
    method: 'POST',
    path: '/s/u/{token}',
    summary: 'Unsubscribe, with one click (RFC 8058).',
    open: IN_A_MESSAGE,
    run: unsubscribe,
  }),
  publicPage({ method: 'GET', path: '/s/p/{token}', summary: 'Show the preference centre.', open: IN_A_MESSAGE, run: showPreferences }),
  publicPage({ method: 'POST', path: '/s/p/{token}', summary: 'Save preferences.', open: IN_A_MESSAGE, run: savePreferences }),
  publicPage({
    method: 'GET',
    path: '/s/confirm/{token}',
    summary: 'Ask a person to confirm that they subscribed. Changes nothing.',
    open: ASKED,
    run: showConfirmation,
  }),
  publicPage({ method: 'POST', path: '/s/confirm/{token}', summary: 'Confirm a subscription.', open: ASKED, run: confirm }),
]
