/** The hosted pages for consent. */
import { type PublicPage, publicPage } from '../../../infra/http/public-page.ts'
import { confirm, showConfirmation } from './confirm.ts'
import type { FindRecipient } from './page-user.ts'
import { savePreferences, showPreferences } from './preferences.ts'
import { showUnsubscribe, unsubscribe } from './unsubscribe.ts'

const FROM_MESSAGE = 'The link is signed and is part of the messages to the user.'
const FROM_CONFIRMATION = 'The link is signed and is part of the message that asks the user to confirm.'

/** The hosted pages. `findRecipient` is passed in, because messages depend on this module. */
export const consentPages = ({ findRecipient }: { findRecipient: FindRecipient }): PublicPage[] => [
  publicPage({
    method: 'GET',
    path: '/s/u/{token}',
    summary: 'Show the unsubscribe page. Changes nothing.',
    open: FROM_MESSAGE,
    essential: true,
    run: showUnsubscribe,
  }),
  publicPage({
    method: 'POST',
    path: '/s/u/{token}',
    summary: 'Unsubscribe with one click (RFC 8058).',
    open: FROM_MESSAGE,
    essential: true,
    run: (ctx, call) => unsubscribe(ctx, call, findRecipient),
  }),
  publicPage({
    method: 'GET',
    path: '/s/p/{token}',
    summary: 'Show the preference centre.',
    open: FROM_MESSAGE,
    essential: true,
    run: showPreferences,
  }),
  publicPage({
    method: 'POST',
    path: '/s/p/{token}',
    summary: 'Save preferences.',
    open: FROM_MESSAGE,
    essential: true,
    run: (ctx, call) => savePreferences(ctx, call, findRecipient),
  }),
  publicPage({
    method: 'GET',
    path: '/s/confirm/{token}',
    summary: 'Show the confirmation page. Changes nothing.',
    open: FROM_CONFIRMATION,
    essential: true,
    run: showConfirmation,
  }),
  publicPage({
    method: 'POST',
    path: '/s/confirm/{token}',
    summary: 'Confirm a subscription.',
    open: FROM_CONFIRMATION,
    essential: true,
    run: confirm,
  }),
]
