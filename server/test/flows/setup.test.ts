import { spawnSync } from 'node:child_process'
import { appendFile, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/infra/runtime/config.ts'

/** Stands for npm: creates the folder that `npm ci` fills, and notes its arguments. */
const NPM = `const { appendFileSync, mkdirSync } = require('node:fs')
mkdirSync('node_modules', { recursive: true })
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n')`

let root: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'carillon-setup-'))
  await mkdir(join(root, 'scripts'))
  await copyFile('scripts/setup.mjs', join(root, 'scripts', 'setup.mjs'))
  await writeFile(join(root, 'package-lock.json'), '{}')
  await writeFile(join(root, 'npm-cli.js'), NPM)
  await writeFile(join(root, 'calls'), '')
})

afterAll(() => rm(root, { recursive: true }))

/** Runs the set-up as npm does before a script, and returns the arguments that npm was run with, if it was. */
async function setUp(script: string, mode: string): Promise<string> {
  await writeFile(join(root, 'calls'), '')
  const env = { ...process.env, NODE_ENV: mode, npm_lifecycle_event: script, npm_execpath: join(root, 'npm-cli.js') }
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs')], {
    env: { ...env, npm_node_execpath: process.execPath },
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  return await readFile(join(root, 'calls'), 'utf8')
}

describe('what runs before npm scripts', () => {
  test('npm start in production installs what the server needs, every other script installs all, and all serves production', async () => {
    expect(await setUp('prestart', 'production')).toMatch(/^ci .* --omit=dev --workspace=server --include-workspace-root /)
    expect(await setUp('prestart', 'production')).toBe('')
    expect(await setUp('pretest', 'production')).toMatch(/^ci .* --include=dev /)
    expect(await setUp('prestart', 'production')).toBe('')
    expect(await setUp('prestart', 'development')).toBe('')
  })
})

describe('the secrets of an installation with compose', () => {
  test('are created once, are valid settings, and only the password of the database can be read by others', async () => {
    const folder = join(root, 'secrets')
    const create = () => spawnSync(process.execPath, ['deploy/docker/secrets.mjs', folder]).status
    expect(create()).toBe(0)
    const written = await readFile(join(folder, 'carillon.env'), 'utf8')
    expect(create()).toBe(0)
    expect(await readFile(join(folder, 'carillon.env'), 'utf8')).toBe(written)
    const config = readConfig({ NODE_ENV: 'production', ...parseEnv(written) })
    // Compose gives the server the files. An installation of before has the first one alone.
    const compose = await readFile('compose.yaml', 'utf8')
    const files = [...compose.matchAll(/^ {6}(\w+_FILE): \/run\/secrets-of-carillon\/([A-Z_]+)$/gm)].map(([, name = '', file = '']) => [
      name,
      file,
    ])
    expect(files.map(([, file]) => file)).toEqual(Object.keys(parseEnv(written)))
    for (const [, file = ''] of files) await rm(join(folder, file))
    expect(create()).toBe(0)
    const given = Object.fromEntries(files.map(([name = '', file = '']) => [name, join(folder, file)]))
    expect(readConfig({ NODE_ENV: 'production', ...given })).toEqual(config)
    for (const [, file = ''] of files) expect((await stat(join(folder, file))).mode & 0o077, file).toBe(0)
    expect(config.DATABASE_URL).toContain(`:${await readFile(join(folder, 'postgres-password'), 'utf8')}@postgres/`)
    expect([(await stat(join(folder, 'carillon.env'))).mode & 0o077, (await stat(join(folder, 'postgres-password'))).mode & 0o777]).toEqual(
      [0, 0o644],
    )
  })

  test('are not overwritten by what they were before, and what the server does not read gets a warning', async () => {
    const folder = join(root, 'rotated')
    const create = () => spawnSync(process.execPath, ['deploy/docker/secrets.mjs', folder], { encoding: 'utf8' })
    expect(create()).toMatchObject({ status: 0, stderr: '' })
    const file = join(folder, 'SECRETS_KEY')
    const rotated = `b:${Buffer.alloc(32).toString('base64')},${await readFile(file, 'utf8')}`
    await writeFile(file, `${rotated}\n`)
    await appendFile(join(folder, 'carillon.env'), 'METRICS_TOKEN=a-secret-token\n')
    const again = create()
    expect(await readFile(file, 'utf8')).toBe(`${rotated}\n`)
    expect(again.stderr.trim().split('\n').toSorted()).toEqual([
      'Warning: METRICS_TOKEN in carillon.env is not read. Set it under `environment` in compose.override.yaml.',
      'Warning: SECRETS_KEY in carillon.env is not that in the file SECRETS_KEY, which the server reads. Change it in that file.',
    ])
    expect([again.status, await readdir(folder)]).toEqual([0, expect.not.arrayContaining(['METRICS_TOKEN'])])
  })
})
