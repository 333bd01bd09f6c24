/** The search of the sandbox inbox, as filters of the API. */
import { expect, test } from 'vitest'
import { queryOf } from '../src/screens/sandbox/grammar.ts'
import { firstIn } from '../src/screens/sandbox/search.ts'

test.each<[string, object]>([
  ['', {}],
  ['coffee beans', { q: 'coffee beans' }],
  ['to:ana', { to: 'ana' }],
  ['subject:"Time for beans" to:ana@example.com', { subject: 'Time for beans', to: 'ana@example.com' }],
  ['has:attachment -has:link', { has_attachment: 'true', has_link: 'false' }],
  ['TO:ana channel:in_app beans', { to: 'ana', channel: 'in_app', q: 'beans' }],
  ['to:ana to:bo', { to: 'bo' }],
  ['tag:"Spring sale" beans', { tag: 'Spring sale', q: 'beans' }],
  ['-tag:spring', { q: '-tag:spring' }],
  ['channel:pigeon has:wings to:', { q: 'channel:pigeon has:wings to:' }],
  ['-to:ana https://shop.example.com', { q: '-to:ana https://shop.example.com' }],
  ['"two words"', { q: 'two words' }],
])('%s is %j', (search, query) => expect(queryOf(search)).toEqual(query))

test.each<[string, { ids: number[]; isWhole: boolean }, number | undefined, number | undefined]>([
  ['the newest, when the inbox is opened', { ids: [5, 4], isWhole: true }, undefined, 5],
  ['the same, when others arrive', { ids: [7, 6, 5, 4], isWhole: true }, 5, 5],
  ['the same, when it has left the page', { ids: [9, 8, 7, 6], isWhole: false }, 5, 5],
  ['the newest, when the inbox was emptied and others have arrived', { ids: [7, 6], isWhole: true }, 5, 7],
  ['the newest, when it was deleted alone', { ids: [7, 6, 4], isWhole: false }, 5, 7],
  ['none, when the inbox was emptied', { ids: [], isWhole: true }, 5, undefined],
])('the message that is shown is %s', (_, page, first, expected) =>
  expect(firstIn('all', page, first === undefined ? undefined : { view: 'all', id: first })?.id).toBe(expected),
)
