/** Signing in to the console, and its members. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { CHANGED, CREATED } from './times.ts'

const project = { id: 1, name: 'Shop', role: 'admin', environment: 'live', locale: 'en-AU', timezone: 'Australia/Sydney' }

const session = {
  id: 12,
  member: { id: 1, email: 'kim@example.com', name: 'Kim Barton' },
  organisation: { id: 1, name: 'Default' },
  role: 'owner',
  projects: [project],
  expires_at: CHANGED,
}

const listed = {
  id: 12,
  is_current: true,
  address: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  created_at: CREATED,
  used_at: CREATED,
  expires_at: CHANGED,
}

export const consoleOperations: Words['operations'] = {
  createOwner: {
    body: {
      token: 'gq0pTjYbXl7cZ1m9Rk2vWs5uNf8hDa3eQy6iPo4tLxE',
      email: 'kim@example.com',
      name: 'Kim Barton',
      password: 'anvil lantern meadow kettle',
    },
    reply: session,
  },
  signIn: { body: { email: 'kim@example.com', password: 'anvil lantern meadow kettle' }, reply: session },
  getSession: { reply: session },
  listSessions: { reply: { results: [listed] } },
}
