import { describe, expect, test } from 'vitest'
import { slowWithMany } from '../../../test/house/adversarial.ts'
import type { UserId } from '../../lib/ids.ts'
import { applyProfile, noUsers, type UserRecord, type Users } from './identity.ts'

const times = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

describe('identity', () => {
  const NOW = new Date('2026-11-23T12:00:00.000Z')
  const apply = (users: Users, external_id: string, anonymous_id: string) =>
    applyProfile(users, { external_id, anonymous_id }, NOW, () => null)

  test('of a user with many anonymous ids takes linear time', () => {
    const workOf = (count: number) => () => {
      const users = noUsers()
      for (const at of times(count)) apply(users, 'undefined', `visitor-${at}`)
      const [owner] = users.created as Set<UserRecord>
      expect(owner?.aliases.size).toBe(count)
    }
    expect(slowWithMany(workOf, 65_536)).toBeNull()
  })

  test('of many merges takes linear time', () => {
    const workOf = (count: number) => {
      const users = noUsers()
      for (const at of times(count)) {
        applyProfile(users, { anonymous_id: `visitor-${at}` }, NOW, () => null)
        applyProfile(users, { external_id: `user-${at}` }, NOW, () => null)
      }
      for (const [at, user] of [...users.created].entries()) user.id = (at + 1) as UserId
      return () => {
        for (const at of times(count)) apply(users, `user-${at}`, `visitor-${at}`)
        expect(users.merges).toHaveLength(count)
      }
    }
    expect(slowWithMany(workOf, 16_384)).toBeNull()
  })
})
