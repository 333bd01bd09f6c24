import { expect, test } from 'vitest'
import type { UserId } from '../../lib/ids.ts'
import { resolvedUpdates } from './identify-users.ts'
import type { Profile } from './identity.ts'

const known = {
  byExternalId: new Map([
    ['kim', 1 as UserId],
    ['lee', 2 as UserId],
  ]),
  byAnonymousId: new Map([
    ['a', 1 as UserId],
    ['b', 3 as UserId],
  ]),
}
const at = new Date('2026-11-23T09:00:00Z')
const resolvedFor = (...profiles: Profile[]) => {
  const updates = profiles.map((profile) => ({ profile, at }))
  const resolved = resolvedUpdates(updates, known)
  return updates.map((update) => resolved.get(update) ?? null)
}

test.each<[string, Profile[], (number | null)[]]>([
  ['a known id', [{ external_id: 'kim' }], [1]],
  ['both ids of one user', [{ external_id: 'kim', anonymous_id: 'a' }], [1]],
  ['an unknown id', [{ external_id: 'new' }], [null]],
  ['ids of two users', [{ external_id: 'lee', anonymous_id: 'a' }], [null]],
  ['a profile change', [{ external_id: 'kim', email: null }], [null]],
  [
    'an id that another update moves',
    [{ anonymous_id: 'b' }, { external_id: 'lee', anonymous_id: 'b' }, { external_id: 'lee' }, { external_id: 'kim' }],
    [null, null, null, 1],
  ],
  [
    'an id that another update shares with a third one',
    [{ anonymous_id: 'a' }, { external_id: 'kim', anonymous_id: 'a' }, { external_id: 'kim', locale: 'de' }],
    [null, null, null],
  ],
])('%s', (_, profiles, expected) => expect(resolvedFor(...profiles)).toEqual(expected))
