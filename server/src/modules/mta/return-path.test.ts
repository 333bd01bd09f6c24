import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../infra/runtime/secrets.ts'
import type { MessageId, ProjectId } from '../../lib/ids.ts'
import { readReturnPath, returnPathFor } from './return-path.ts'

const key = (fill: number) => `k${fill}:${Buffer.alloc(32, fill).toString('base64')}`
const ctx = { secrets: createSecrets([key(1)]) }
const path = { project_id: 42 as ProjectId, mail_id: 88_214 as MessageId, recipient_no: 3 }
const largest = { project_id: Number.MAX_SAFE_INTEGER as ProjectId, mail_id: Number.MAX_SAFE_INTEGER as MessageId, recipient_no: 999 }

describe('a return path', () => {
  test.each([[path], [largest]])('of %o is read again, in any case', (path) => {
    const address = returnPathFor(ctx, path, 'bounces.example.com')
    expect(readReturnPath(ctx, address)).toEqual(path)
    expect(readReturnPath(ctx, address.toUpperCase())).toEqual(path)
    expect(address.split('@')[0]?.length).toBeLessThanOrEqual(64)
    expect(address).toMatch(/^[a-z0-9.-]+@bounces\.example\.com$/)
  })

  test('is read with an older key, and not with another one', () => {
    const address = returnPathFor(ctx, path, 'example.com')
    expect(readReturnPath({ secrets: createSecrets([key(2), key(1)]) }, address)).toEqual(path)
    expect(readReturnPath({ secrets: createSecrets([key(2)]) }, address)).toBeNull()
  })

  test('that was changed in any character of its local part is of no recipient', () => {
    const [local = '', domain] = returnPathFor(ctx, path, 'example.com').split('@')
    for (const at of local.split('').keys())
      for (const other of 'abcdefghijklmnopqrstuvwxyz234567.-') {
        if (local[at] === other) continue
        expect(readReturnPath(ctx, `${local.slice(0, at)}${other}${local.slice(at + 1)}@${domain}`)).toBeNull()
      }
  })

  test.each(['', '@', 'b.', 'kim@example.com', 'b.1-2-3.@example.com', `b.1-2-3.${'a'.repeat(27)}@example.com`, `b.${'1'.repeat(10_000)}`])(
    'is not %j',
    (address) => expect(readReturnPath(ctx, address)).toBeNull(),
  )
})
