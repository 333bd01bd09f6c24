/** The search of the sandbox inbox, as filters of the API. */
import { expect, test } from 'vitest'
import { queryOf } from '../src/screens/sandbox/grammar.ts'

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
