import { describe, expect, test } from 'vitest'
import { checkRule } from './check.ts'

const condition = { attribute: 'email', is_set: true }

const nested = (depth: number): unknown => (depth === 0 ? condition : { not: nested(depth - 1) })
const wide = (groups: number, each: number) => ({ all: Array.from({ length: groups }, () => ({ any: Array(each).fill(condition) })) })

describe('checkRule', () => {
  test.each<[string, unknown]>([
    ['of one condition', condition],
    ['with groups', { all: [{ any: [condition] }, { none: [condition] }, { not: condition }] }],
    ['of the greatest depth', nested(8)],
    ['of the greatest width', wide(2, 50)],
    ['with an empty value', { attribute: 'data.plan', is: '' }],
    ['with the longest path', { attribute: `data.${[255, 255, 255, 227].map((length) => 'x'.repeat(length)).join('.')}`, is: 1 }],
    ['with a path that has a dot in a key', { attribute: 'data.a\\.b.c', is: 1 }],
    [
      'with all members of an event condition',
      {
        event: 'purchase',
        at_least: 3,
        within: '30d',
        since: '2026-01-01',
        until: '2027-01-01',
        where: [{ attribute: 'data.total', between: [1, 2] }],
      },
    ],
    ['with a first time', { event: 'purchase', first: { within_last: '7d' }, since: '2026-01-01' }],
    ['with a count of zero', { event: 'purchase', exactly: 0 }],
    ['that counts membership changes of one list', { event: 'list_left', where: [{ attribute: 'data.list_id', is: 3 }] }],
    ['of a list', { list: 12 }],
    ['of a subscription', { subscription: 4, is: 'confirmed' }],
    ['of a campaign', { campaign: 9, did: 'opened', within: '7d' }],
    ['of a device', { device: 'os', one_of: ['iOS', 'Android'] }],
    ['of a bucket', { bucket: 'spring', less_than: 10 }],
    ['of a bucket whose seed is a letter', { bucket: 's', less_than: 10 }],
    ['of several buckets', { bucket: 'spring', one_of: [1, 2] }],
  ])('accepts a rule %s', (_, rule) => expect(checkRule(rule, 'rule')).toEqual([]))

  test.each<[unknown, [code: string, param: string][]]>([
    [null, [['parameter_invalid_format', 'rule']]],
    ['all', [['parameter_invalid_format', 'rule']]],
    [[condition], [['parameter_invalid_format', 'rule']]],
    [{}, [['parameter_missing', 'rule']]],
    [{ is: 'pro' }, [['parameter_missing', 'rule']]],
    [{ all: [condition], any: [condition] }, [['validation_failed', 'rule']]],
    [{ all: [condition], attribute: 'email' }, [['validation_failed', 'rule']]],
    [
      { all: [condition], is: 'pro', x: 1 },
      [
        ['parameter_unknown', 'rule.is'],
        ['parameter_unknown', 'rule.x'],
      ],
    ],
    [{ all: condition }, [['parameter_invalid_format', 'rule.all']]],
    [{ any: [] }, [['parameter_invalid_empty', 'rule.any']]],
    [{ none: Array(51).fill(condition) }, [['validation_failed', 'rule.none']]],
    [{ not: [condition] }, [['parameter_invalid_format', 'rule.not']]],
    [{ all: [condition, null] }, [['parameter_invalid_format', 'rule.all[1]']]],
    [nested(9), [['validation_failed', `rule${'.not'.repeat(8)}`]]],
    [wide(3, 34), [['validation_failed', 'rule']]],
    [{ all: [condition, { not: {} }] }, [['parameter_missing', 'rule.all[1].not']]],

    [{ attribute: '', is: 1 }, [['parameter_invalid_empty', 'rule.attribute']]],
    [{ attribute: 'plan', is: 1 }, [['parameter_invalid_format', 'rule.attribute']]],
    [{ attribute: 'toString', is: 1 }, [['parameter_invalid_format', 'rule.attribute']]],
    [{ attribute: 'data.', is: 1 }, [['parameter_invalid_format', 'rule.attribute']]],
    [{ attribute: 'data.a..b', is: 1 }, [['parameter_invalid_format', 'rule.attribute']]],
    [{ attribute: `data${'.a'.repeat(17)}`, is: 1 }, [['parameter_invalid_format', 'rule.attribute']]],
    [{ attribute: 'data.plan' }, [['parameter_missing', 'rule']]],
    [{ attribute: 'data.plan', is: 1, is_not: 2 }, [['validation_failed', 'rule']]],
    [{ attribute: 'data.plan', equals: 1 }, [['parameter_unknown', 'rule.equals']]],
    [{ attribute: 'data.plan', is: null }, [['parameter_invalid_format', 'rule.is']]],
    [{ attribute: 'data.plan', is: ['pro'] }, [['parameter_invalid_format', 'rule.is']]],
    [{ attribute: 'data.plan', is: 'x'.repeat(1001) }, [['validation_failed', 'rule.is']]],
    [{ attribute: 'data.plan', one_of: [] }, [['parameter_invalid_empty', 'rule.one_of']]],
    [{ attribute: 'data.plan', one_of: Array(101).fill(1) }, [['validation_failed', 'rule.one_of']]],
    [{ attribute: 'data.plan', one_of: ['a', null] }, [['parameter_invalid_format', 'rule.one_of[1]']]],
    [{ attribute: 'data.plan', starts_with: '' }, [['parameter_invalid_empty', 'rule.starts_with']]],
    [{ attribute: 'data.plan', contains: '' }, [['parameter_invalid_empty', 'rule.contains']]],
    [{ attribute: 'data.plan', contains: ['pro'] }, [['parameter_invalid_format', 'rule.contains']]],
    [{ attribute: 'data.plan', contains: 'x'.repeat(1001) }, [['validation_failed', 'rule.contains']]],
    [
      { attribute: `data.${[255, 255, 255, 228].map((length) => 'x'.repeat(length)).join('.')}`, is: 1 },
      [['validation_failed', 'rule.attribute']],
    ],
    [{ attribute: 'data.plan', is_set: 'yes' }, [['parameter_invalid_format', 'rule.is_set']]],
    [{ attribute: 'data.score', greater_than: '50' }, [['parameter_invalid_format', 'rule.greater_than']]],
    [{ attribute: 'data.score', between: [1] }, [['validation_failed', 'rule.between']]],
    [{ attribute: 'data.score', between: [2, 1] }, [['validation_failed', 'rule.between']]],
    [{ attribute: 'data.when', before: '2026-02-30' }, [['parameter_invalid_format', 'rule.before']]],
    [{ attribute: 'created_at', as: 'date', within_last: '30d' }, [['validation_failed', 'rule.as']]],
    [{ attribute: 'data.when', as: 'number', greater_than: 30 }, [['parameter_invalid_format', 'rule.as']]],
    [{ attribute: 'data.when', as: 'date', greater_than: 30 }, [['validation_failed', 'rule.greater_than']]],
    [{ event: 'a', where: [{ attribute: 'data.x', as: 'date', within_last: '7d' }] }, [['validation_failed', 'rule.where[0]']]],
    [{ attribute: 'data.when', within_last: '30' }, [['parameter_invalid_format', 'rule.within_last']]],
    [{ attribute: 'data.when', within_last: '0d' }, [['parameter_invalid_format', 'rule.within_last']]],
    [{ attribute: 'data.when', within_last: '201y' }, [['validation_failed', 'rule.within_last']]],
    [{ attribute: 'email', greater_than: 5 }, [['validation_failed', 'rule.greater_than']]],
    [{ attribute: 'email', is: 5 }, [['parameter_invalid_format', 'rule.is']]],
    [{ attribute: 'email', one_of: ['a', 5] }, [['parameter_invalid_format', 'rule.one_of']]],
    [{ attribute: 'created_at', is: '2026-01-01' }, [['validation_failed', 'rule.is']]],
    [{ attribute: 'has_push_device', is: 'true' }, [['parameter_invalid_format', 'rule.is']]],
    [{ attribute: 'has_push_device', contains: 'true' }, [['validation_failed', 'rule.contains']]],

    [{ event: ' ' }, [['parameter_invalid_empty', 'rule.event']]],
    [{ event: 'a', at_least: 0 }, [['validation_failed', 'rule.at_least']]],
    [{ event: 'a', at_most: 1001 }, [['validation_failed', 'rule.at_most']]],
    [{ event: 'a', exactly: 1.5 }, [['parameter_invalid_format', 'rule.exactly']]],
    [{ event: 'a', at_least: 1, at_most: 3 }, [['validation_failed', 'rule']]],
    [{ event: 'a', first: { within_last: '7d' }, last: { within_last: '7d' } }, [['validation_failed', 'rule']]],
    [{ event: 'a', first: { within_last: '7d' }, at_least: 2 }, [['validation_failed', 'rule']]],
    [{ event: 'a', first: { within_last: '7d' }, within: '7d' }, [['validation_failed', 'rule.within']]],
    [{ event: 'a', first: {} }, [['parameter_missing', 'rule.first']]],
    [{ event: 'a', last: { is: 5 } }, [['parameter_unknown', 'rule.last.is']]],
    [{ event: 'a', last: { before: '2026-01-01', after: '2025-01-01' } }, [['validation_failed', 'rule.last']]],
    [{ event: 'a', last: { more_than_ago: '9999999w' } }, [['validation_failed', 'rule.last.more_than_ago']]],
    [{ event: 'a', within: '99999w' }, [['validation_failed', 'rule.within']]],
    [{ event: 'a', within: 'a while' }, [['parameter_invalid_format', 'rule.within']]],
    [{ event: 'a', since: '2026-01-02', until: '2026-01-02' }, [['validation_failed', 'rule.until']]],
    [{ event: 'a', since: 'then' }, [['parameter_invalid_format', 'rule.since']]],
    [{ event: 'a', where: [] }, [['parameter_invalid_empty', 'rule.where']]],
    [{ event: 'a', where: Array(21).fill({ attribute: 'data.x', is: 1 }) }, [['validation_failed', 'rule.where']]],
    [{ event: 'a', where: [{ attribute: 'email', is: 'x' }] }, [['parameter_invalid_format', 'rule.where[0].attribute']]],
    [{ event: 'a', where: [{ attribute: 'data.x', is: 1 }, { attribute: 'data.y' }] }, [['parameter_missing', 'rule.where[1]']]],
    [{ event: 'a', where: [{ is: 1 }] }, [['parameter_missing', 'rule.where[0].attribute']]],
    [{ event: 'a', where: [{ attribute: 'data.x', greater_than: 'x' }] }, [['parameter_invalid_format', 'rule.where[0].greater_than']]],
    [{ event: 'a', where: [{ attribute: 'data.x', within_last: '7d' }] }, [['validation_failed', 'rule.where[0]']]],
    [{ event: 'a', times: 3 }, [['parameter_unknown', 'rule.times']]],
    [{ event: 'list_entered' }, [['validation_failed', 'rule.where']]],
    [{ event: 'list_left', where: [{ attribute: 'data.list_id', is_not: 3 }] }, [['validation_failed', 'rule.where']]],
    [{ event: 'list_left', where: [{ attribute: 'data.list_id', is: '3' }] }, [['validation_failed', 'rule.where']]],
    [{ event: 'list_left', where: [{ attribute: 'data.list_id', is: 0 }] }, [['validation_failed', 'rule.where']]],
    [
      { event: 'a', where: [{ attribute: `data.${[255, 255, 255, 228].map((length) => 'x'.repeat(length)).join('.')}`, is: 1 }] },
      [['validation_failed', 'rule.where[0].attribute']],
    ],

    [{ list: 'VIP' }, [['parameter_invalid_format', 'rule.list']]],
    [{ list: 0 }, [['validation_failed', 'rule.list']]],
    [{ list: 1, is: 'subscribed' }, [['parameter_unknown', 'rule.is']]],
    [{ subscription: 4 }, [['parameter_missing', 'rule.is']]],
    [{ subscription: 4, is: 'maybe' }, [['parameter_invalid_format', 'rule.is']]],
    [{ campaign: 9 }, [['parameter_missing', 'rule.did']]],
    [{ campaign: 9, did: 'seen' }, [['parameter_invalid_format', 'rule.did']]],
    [{ device: 'colour', is: 'red' }, [['parameter_invalid_format', 'rule.device']]],
    [{ device: 'os' }, [['parameter_missing', 'rule']]],
    [{ device: 'os_version', greater_than: 17 }, [['parameter_unknown', 'rule.greater_than']]],
    [{ bucket: 'spring', is: 'x' }, [['parameter_invalid_format', 'rule.is']]],
    [{ bucket: 'spring', is_set: true }, [['parameter_unknown', 'rule.is_set']]],
    [{ bucket: '', less_than: 10 }, [['parameter_invalid_empty', 'rule.bucket']]],
  ])('refuses %j', (rule, expected) => {
    const faults = checkRule(rule, 'rule')
    expect(faults.map(({ code, param }) => [code, param])).toEqual(expected)
    for (const { param, message } of faults) {
      expect(message).toContain(`\`${param}`)
      expect(message).not.toContain('`body`')
      expect(message.length).toBeLessThanOrEqual(500)
    }
  })

  test('reports each fault with its full path', () => {
    const rule = { all: [condition, { event: 'purchase', where: [{ attribute: 'data.total', greater_than: 'much' }] }, { list: -1 }] }
    expect(checkRule(rule, 'rule')).toEqual([
      {
        code: 'parameter_invalid_format',
        param: 'rule.all[1].where[0].greater_than',
        message: 'The parameter `rule.all[1].where[0].greater_than` must be a number.',
      },
      { code: 'validation_failed', param: 'rule.all[2].list', message: 'The value of `rule.all[2].list` must be at least 1.' },
    ])
  })
})
