import { expect, test } from 'vitest'
import { guessDelimiter } from './csv.ts'

test.each([
  ['a,b;c,d\n;;;;', ','],
  ['a;b;c\n,,,,', ';'],
  ['a\tb', '\t'],
  ['a|b|c', '|'],
  ['"x,y,z,,,";b', ';'],
  ['"a ""q"", b";c\n', ';'],
  ['\r\na|b', '|'],
  ['alone', ','],
])('the delimiter of %j is %j', (text, delimiter) => expect(guessDelimiter(Buffer.from(text))).toBe(delimiter))
