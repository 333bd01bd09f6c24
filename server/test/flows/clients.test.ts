import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { childEnvironment, someSecretKey, startChild } from '../child-server.ts'
import { cloneTemplate } from '../ground.ts'
import { blocksOf, readPage } from '../guides.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const installed = (name: string) => join(root, 'node_modules', '.bin', name)

/** The command that generates each client from the description at a URL, as its users run it. */
const CLIENTS = {
  'openapi-fetch': (url: string) => [installed('openapi-typescript'), url, '--output', 'carillon.ts'],
  'openapi-ts': (url: string) => [installed('openapi-ts'), '--input', url, '--output', 'carillon', '--no-log-file'],
}

/** The options of a careful user, with the generated code checked too. */
const STRICT: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  noFallthroughCasesInSwitch: true,
  skipLibCheck: true,
}

/** The programs of the guide, in the order of the clients. */
const GUIDE = blocksOf(readPage('docs/guide/clients.md')).filter(({ language }) => language === 'ts')

/** Compiles files and what they import. Returns the faults. */
function compile(files: string[]): string[] {
  const program = ts.createProgram(files, STRICT)
  program.emit()
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText, file }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
}

test('a program that is written against a generated client compiles under strict TypeScript and works with a server', async () => {
  await using closing = new AsyncDisposableStack()
  const folder = async () => {
    const made = await mkdtemp(join(tmpdir(), 'carillon-clients-'))
    closing.defer(() => rm(made, { recursive: true, force: true }))
    return made
  }
  const secretKey = someSecretKey()
  const env = { BOOTSTRAP_SECRET_KEY: secretKey, DATABASE_URL: await cloneTemplate() }
  const server = closing.use(await startChild({ dataDir: await folder(), env }))
  const generated = await Promise.all(
    Object.entries(CLIENTS).map(async ([name, commandOf], at) => {
      const cwd = await folder()
      await symlink(join(root, 'node_modules'), join(cwd, 'node_modules'))
      await writeFile(join(cwd, 'package.json'), '{ "type": "module" }')
      await writeFile(join(cwd, 'tsconfig.json'), '{ "compilerOptions": { "module": "nodenext", "moduleResolution": "nodenext" } }')
      await run(process.execPath, commandOf(`${server.url}/openapi.json`), { cwd, env: childEnvironment })
      await copyFile(join(root, 'docs', 'examples', `${name}.ts`), join(cwd, `${name}.ts`))
      await writeFile(join(cwd, 'guide.ts'), `declare const baseUrl: string\ndeclare const key: string\n${GUIDE[at]?.code}`)
      return { name, cwd }
    }),
  )
  // All in one program, so that the libraries are read once.
  expect(compile(generated.flatMap(({ name, cwd }) => [join(cwd, `${name}.ts`), join(cwd, 'guide.ts')]))).toEqual([])
  for (const { name, cwd } of generated) {
    const { stdout } = await run(process.execPath, [`${name}.js`, server.url, secretKey], { cwd, env: childEnvironment, timeout: 20_000 })
    const user = name === 'openapi-fetch' ? 'customer-7' : 'customer-8'
    expect(JSON.parse(stdout), name).toEqual({ user, plan: 'pro', campaign: 'draft', refused: 'resource_missing' })
  }
}, 120_000)
