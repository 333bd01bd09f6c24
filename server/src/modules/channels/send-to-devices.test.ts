import { expect, test } from 'vitest'
import type { ProviderResponse } from './provider.ts'
import { deadToken, joinResponses } from './send-to-devices.ts'

const accepted: ProviderResponse = { is: 'accepted', delivered: false, reference: 'r' }
const deferred = (minutes?: number): ProviderResponse => ({
  is: 'deferred',
  reason: 'later',
  ...(minutes !== undefined && { retryAt: new Date(Date.UTC(2026, 0, 1, 0, minutes)) }),
})
const uncertain: ProviderResponse = { is: 'uncertain', reason: 'lost' }
const refused: ProviderResponse = { is: 'rejected', reason: 'too large', code: '413' }

test.each<[string, ProviderResponse[], ProviderResponse]>([
  ['no device', [], { is: 'rejected', reason: 'no_push_device' }],
  ['all dead', [deadToken('a', 'gone'), deadToken('b', 'gone')], { is: 'rejected', reason: 'no_push_device', deadTokens: ['a', 'b'] }],
  ['one of two dead', [deadToken('a', 'gone'), accepted], { ...accepted, deadTokens: ['a'] } as ProviderResponse],
  ['one of two refused', [refused, accepted], accepted],
  ['one of two deferred', [deferred(1), accepted], accepted],
  ['one of two uncertain', [uncertain, accepted], accepted],
  ['one uncertain, one deferred', [deferred(1), uncertain], uncertain],
  ['one deferred, one refused', [refused, deferred()], deferred()],
  ['two deferred: the later time', [deferred(1), deferred(5), deferred()], deferred(5)],
  ['one deferred, one dead', [deferred(1), deadToken('a', 'gone')], { ...deferred(1), deadTokens: ['a'] } as ProviderResponse],
  ['one uncertain, one dead', [deadToken('a', 'gone'), uncertain], { ...uncertain, deadTokens: ['a'] } as ProviderResponse],
  ['one refused, one dead', [deadToken('a', 'gone'), refused], { ...refused, deadTokens: ['a'] } as ProviderResponse],
])('%s', (_, outcomes, expected) => expect(joinResponses(outcomes)).toEqual(expected))
