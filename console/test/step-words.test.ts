/** What a step is set to, in a few words: in the language of the member. */
import { expect, test } from 'vitest'
import { type Names, valueInWords } from '../src/screens/journeys/steps/in-words.ts'

const german: Names = {
  ofReference: (_, id) => (id === 7 ? 'Frühling' : String(id)),
  ofSetting: (name) => ({ percent: 'Prozent', is_once: 'Nur einmal' })[name] ?? name,
  ofOperator: (name) => ({ is_set: 'ist gesetzt', greater_than: 'ist größer als' })[name] ?? name,
  inUnit: (unit, count) => (unit === 'days' ? `${count} Tage` : undefined),
}

test.each<[string, unknown, string[]]>([
  ['days', 21, ['21 Tage']],
  ['percent', 5, ['Prozent: 5']],
  ['is_once', true, ['Nur einmal']],
  ['is_once', false, []],
  ['campaign_id', 7, ['Frühling']],
  [
    'rule',
    {
      any: [
        { attribute: 'email', is_set: true },
        { attribute: 'data.total', greater_than: 9 },
      ],
    },
    ['email ist gesetzt', 'data.total ist größer als 9'],
  ],
  ['when', { percent: 5 }, ['Prozent']],
])('%s %j', (key, value, words) => {
  expect(valueInWords(key, value, german)).toEqual(words)
})
