import { expect, test } from 'vitest'
import { relyingPartyOf } from './relying-party.ts'

test.each([
  ['https://carillon.example', { id: 'carillon.example', origin: 'https://carillon.example' }],
  ['https://carillon.example:8443/', { id: 'carillon.example', origin: 'https://carillon.example:8443' }],
  ['http://carillon.example', null],
  ['http://localhost:3000', { id: 'localhost', origin: 'http://localhost:3000' }],
  ['http://127.0.0.1:3000', { id: 'localhost', origin: 'http://localhost:3000' }],
  ['http://[::1]:3000', { id: 'localhost', origin: 'http://localhost:3000' }],
  ['http://bells.localhost', { id: 'bells.localhost', origin: 'http://bells.localhost' }],
  ['https://192.0.2.7', null],
  ['https://[2001:db8::7]', null],
])('passkeys at %s are for %o', (baseUrl, relyingParty) => expect(relyingPartyOf(baseUrl)).toEqual(relyingParty))
