import { expect, test } from 'vitest'
import { segmentsOf } from './sms.ts'

test.each<[string, 'GSM-7' | 'UCS-2', number, number, string[]]>([
  ['Hello', 'GSM-7', 1, 5, []],
  ['x'.repeat(160), 'GSM-7', 1, 160, []],
  ['x'.repeat(161), 'GSM-7', 2, 161, []],
  ['x'.repeat(307), 'GSM-7', 3, 307, []],
  ['€'.repeat(80), 'GSM-7', 1, 80, []],
  ['€'.repeat(81), 'GSM-7', 2, 81, []],
  ['café', 'GSM-7', 1, 4, []],
  [`’${'x'.repeat(69)}`, 'UCS-2', 1, 70, ['’']],
  [`’${'x'.repeat(70)}’`, 'UCS-2', 2, 72, ['’']],
  ['🎉', 'UCS-2', 1, 1, ['🎉']],
  ['', 'GSM-7', 1, 0, []],
])('%j is %s in %i messages', (text, encoding, segments, characters, non_gsm) =>
  expect(segmentsOf(text)).toEqual({ encoding, segments, characters, non_gsm }),
)
