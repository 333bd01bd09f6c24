import { describe, expect, test } from 'vitest'
import { groupsOf, mappedRoles } from './mapped-roles.ts'

const MAPPING = {
  owners: { role: 'owner' },
  admins: { role: 'admin' },
  marketing: { projects: { 1: 'publisher', 2: 'editor' } },
  support: { projects: { 1: 'support', 3: 'support' } },
} as const

describe('the roles of groups', () => {
  test.each([
    [['owners', 'admins'], 'owner', []],
    [
      ['marketing', 'admins'],
      'admin',
      [
        [1, 'publisher'],
        [2, 'editor'],
      ],
    ],
    [
      ['support', 'marketing'],
      'member',
      [
        [1, 'publisher'],
        [3, 'support'],
        [2, 'editor'],
      ],
    ],
    [
      ['marketing', 'unknown'],
      'member',
      [
        [1, 'publisher'],
        [2, 'editor'],
      ],
    ],
  ])('%j: %s %j', (groups, role, projects) =>
    expect(mappedRoles(groups, MAPPING)).toEqual({ role, projects: projects.map(([project_id, role]) => ({ project_id, role })) }),
  )

  test.each([[[]], [['unknown']], [['toString']], [['__proto__']]])('%j: none', (groups) =>
    expect(mappedRoles(groups, MAPPING)).toBeUndefined(),
  )
})

test.each([
  [{ groups: ['a', 'b'] }, 'groups', ['a', 'b']],
  [{ groups: 'a' }, 'groups', ['a']],
  [{ groups: ['a', 7, null] }, 'groups', ['a']],
  [{ realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
  [{ 'https://example.com/roles': ['a'] }, 'https://example.com/roles', ['a']],
  [{}, 'groups', []],
  [{ realm_access: 'a' }, 'realm_access.roles', []],
  [{}, 'constructor.name', []],
])('in %j, the groups at %s are %j', (claims, claim, groups) => expect(groupsOf(claims, claim)).toEqual(groups))
