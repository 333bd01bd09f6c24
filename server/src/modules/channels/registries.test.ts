import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CHANNELS } from '../../lib/shapes.ts'
import * as kinds from './kinds.ts'
import * as providers from './providers/index.ts'

const filesIn = (folder: string) =>
  readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith('.ts') && name !== 'index.ts')

test('every channel has a kind', () => expect(Object.keys(kinds).sort()).toEqual([...CHANNELS].sort()))

test('every provider file is registered under its own name', () => {
  expect(Object.keys(providers).sort()).toEqual(
    filesIn('./providers')
      .map((name) => name.replace('.ts', '').replaceAll('-', '_'))
      .sort(),
  )
})

test('the sandbox takes the messages of every channel', () => expect(providers.sandbox.channels).toEqual(CHANNELS))
