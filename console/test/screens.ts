/** Every screen: its address below a project, or alone, and what is there when it is drawn. Tests and pictures go through them. */
export type Screen = { name: string; path: string; heading: string | RegExp; isOutside?: true }

export const SCREENS: Screen[] = [
  { name: 'home', path: '/p/1', heading: /./ },
  { name: 'users', path: '/p/1/users', heading: 'Users' },
  { name: 'user', path: '/p/1/users/sample-2', heading: /wilhelmina/i },
  { name: 'sandbox-inbox', path: '/p/1/sandbox', heading: 'Sandbox inbox' },
  { name: 'lists', path: '/p/1/lists', heading: 'Lists' },
  { name: 'list', path: '/p/1/lists/1', heading: /./ },
  { name: 'list-rule', path: '/p/1/lists/1?view=rule', heading: /./ },
  { name: 'new-list', path: '/p/1/lists/new', heading: 'New dynamic list' },
  { name: 'imports', path: '/p/1/imports', heading: 'Imports' },
  { name: 'new-import', path: '/p/1/imports/new', heading: 'Import a file' },
  { name: 'message-log', path: '/p/1/messages', heading: 'Message log' },
  { name: 'message', path: '/p/1/messages?message=1', heading: 'Message log' },
  { name: 'suppressions', path: '/p/1/suppressions', heading: 'Suppressions' },
  { name: 'subscription-types', path: '/p/1/subscriptions', heading: 'Subscription types' },
  { name: 'keys', path: '/p/1/keys', heading: 'API keys' },
  { name: 'account', path: '/account', heading: 'Your account' },
  { name: 'sign-in', path: '/sign-in', heading: 'Sign in', isOutside: true },
  { name: 'lost-password', path: '/lost-password', heading: 'Lost password', isOutside: true },
]
