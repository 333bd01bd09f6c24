import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../infra/runtime/secrets.ts'
import type { MessageId, ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { confirmUrl, linksOf, readConfirmation, readLink } from './links.ts'

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`
const ctxWith = (...keys: string[]) => ({ secrets: createSecrets(keys), baseUrl: () => 'https://mail.example.com/x' })
const ctx = ctxWith(key('a', 1))

const about = {
  projectId: 3 as ProjectId,
  userId: 1_234_567 as UserId,
  subscriptionId: 12 as SubscriptionId,
  messageId: Number.MAX_SAFE_INTEGER as MessageId,
}
const tokenOf = (url: string) => url.slice(url.lastIndexOf('/') + 1)

describe('a link', () => {
  test('has the ids of the message, and is short', () => {
    const { unsubscribe_url, preferences_url, headers } = linksOf(ctx, about)
    expect(unsubscribe_url).toMatch(/^https:\/\/mail\.example\.com\/x\/s\/u\/[\w-]+[0-9a-z]$/)
    expect(preferences_url).toBe(unsubscribe_url.replace('/s/u/', '/s/p/'))
    expect(readLink(ctx, tokenOf(unsubscribe_url))).toEqual(about)
    expect(tokenOf(unsubscribe_url).length).toBeLessThan(50)
    expect(headers).toEqual({ 'List-Unsubscribe': `<${unsubscribe_url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' })
  })

  test('of a preview has no message id', () => {
    const preview = { ...about, messageId: null }
    expect(readLink(ctx, tokenOf(linksOf(ctx, preview).preferences_url))).toEqual(preview)
  })

  test('is valid as long as the key that signed it is configured', () => {
    const token = tokenOf(linksOf(ctx, about).unsubscribe_url)
    expect(readLink(ctxWith(key('b', 2), key('a', 1)), token)).toEqual(about)
    expect(readLink(ctxWith(key('b', 2)), token)).toBeNull()
  })

  const token = tokenOf(linksOf(ctx, about).unsubscribe_url)
  test.each([
    ['no token', ''],
    ['only a signature', token.slice(0, 22)],
    ['another user id', token.replace('qglj', 'qglk')],
    ['an id appended', `${token}-1`],
    ['the end cut off', token.slice(0, -1)],
    ['capitals', token.toUpperCase()],
    ['the token of a confirmation', tokenOf(confirmUrl(ctx, about.projectId, 9, null))],
  ])('with %s is invalid', (_, changed) => {
    expect(changed).not.toBe(token)
    expect(readLink(ctx, changed)).toBeNull()
  })

  test('to confirm has the id of its request, and is valid only for that', () => {
    const url = confirmUrl(ctx, about.projectId, 42, null)
    expect(url).toMatch(/\/s\/confirm\//)
    expect(readConfirmation(ctx, tokenOf(url))).toEqual({ projectId: 3, confirmation: 42, isAbout: null })
    const about42 = readConfirmation(ctx, tokenOf(confirmUrl(ctx, about.projectId, 42, 'kim@example.com')))
    expect(about42).toMatchObject({ projectId: 3, confirmation: 42 })
    expect(['kim@example.com', 'lee@example.com', ''].map((address) => about42?.isAbout?.(address))).toEqual([true, false, false])
    expect(readConfirmation(ctx, token)).toBeNull()
    expect(readConfirmation(ctx, '')).toBeNull()
  })
})
