import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Source, sourcesOf } from './sources.ts'

const sources = new Map(sourcesOf('server/src').map((source) => [source.path, source]))

/** What a file loads when it is run. Types load nothing; `import { type X }` loads the file all the same. */
const loadedBy = ({ path, text }: Source): string[] =>
  [...text.matchAll(/^(?:import|export) (?!type )[^'"]*?from '([^']+)'/gms)].map(([, name = '']) =>
    name.startsWith('.') ? join(dirname(path), name) : name,
  )

function reachedFrom(path: string, seen = new Set<string>()): Set<string> {
  const source = sources.get(path)
  for (const next of source ? loadedBy(source) : []) if (!seen.has(next)) reachedFrom(next, seen.add(next))
  return seen
}

describe('what a worker thread loads', () => {
  const reached = [...reachedFrom('server/src/task-thread.ts')]

  test('has no database, no network and no server', () => {
    const allowed = ['runtime/secrets.ts', 'threads/packed.ts', 'threads/serve-tasks.ts', 'threads/task.ts'].map(
      (path) => `server/src/infra/${path}`,
    )
    expect(reached.filter((path) => path.startsWith('server/src/infra/')).sort()).toEqual(allowed)
    // These two only read and write text.
    const ofText = ['nodemailer/lib/addressparser', 'nodemailer/lib/mime-funcs']
    const others = reached.filter((path) => !ofText.includes(path))
    expect(others.filter((path) => /^(pg|fastify|undici|nodemailer|node:(tls|http|https|fs|dns|child_process))(\/|$)/.test(path))).toEqual(
      [],
    )
  })

  test('is not the front door of a module', () => {
    expect(reached.filter((path) => /^server\/src\/modules\/[\w-]+\/index\.ts$/.test(path))).toEqual([])
  })

  test('includes every task', () => {
    const modules = [...sources.keys()].filter((path) => /^server\/src\/modules\/[\w-]+\/tasks\.ts$/.test(path))
    expect(modules.filter((path) => !reached.includes(path))).toEqual([])
    const { text = '' } = sources.get('server/src/task-thread.ts') ?? {}
    const tasks = modules.flatMap((path) =>
      [...(sources.get(path)?.text ?? '').matchAll(/^export const (\w+) = task\(/gm)].map(([, name]) => `${path.split('/')[3]}.${name}`),
    )
    expect(tasks.length).toBeGreaterThan(5)
    expect(tasks.filter((name) => !text.includes(name))).toEqual([])
    for (const name of tasks) expect([...sources.values()].filter(({ text }) => text.includes(`name: '${name}'`))).toHaveLength(1)
  })
})
