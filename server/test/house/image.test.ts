import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { findCommand } from '../../src/cli/index.ts'
import { start } from '../../src/cli/start.ts'

/**
 * The image is built where Docker is, which is not where these tests run. What breaks it most easily is a file that a step reads and that
 * was not copied, or that `.dockerignore` leaves out.
 */
const lines = (path: string): string[] => readFileSync(path, 'utf8').split('\n')

/** What the steps copy out of the repository. */
const copied = lines('deploy/docker/Dockerfile')
  .map((line) => /^COPY (?!--from)(.+) \S+$/.exec(line)?.[1])
  .flatMap((sources) => sources?.split(' ') ?? [])

/** What `.dockerignore` leaves in; its first pattern leaves out everything. */
const kept = lines('.dockerignore').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))

const within = (path: string, folders: string[]): boolean => folders.some((folder) => path === folder || path.startsWith(`${folder}/`))

/** The configurations that the TypeScript of a folder extends, one after another. */
function configurationsOf(path: string): string[] {
  const base = /"extends": "([^"]+)"/.exec(readFileSync(path, 'utf8'))?.[1]
  return base === undefined ? [path] : [path, ...configurationsOf(normalize(join(dirname(path), base)))]
}

test('every file that the image copies exists and is not ignored', () => {
  expect(copied).toContain('server')
  expect(copied.filter((path) => !existsSync(path))).toEqual([])
  expect(copied.filter((path) => !within(path, kept) && !kept.some((folder) => folder.startsWith(`${path}/`)))).toEqual([])
})

test('the compiler of the console finds each configuration that its own extends', () => {
  const configurations = globSync('{console,sdk}/tsconfig.json').flatMap(configurationsOf)
  expect(configurations).toContain('tsconfig.base.json')
  expect(configurations.filter((path) => !within(path, copied))).toEqual([])
})

test('Compose starts the server by the entrypoint and the command of the image', () => {
  const services = readFileSync('compose.yaml', 'utf8').split(/^ {2}(?=\w+:$)/m)
  const server = services.find((service) => service.startsWith('carillon:')) ?? ''
  expect([server.includes('image: carillon'), /^ {4}(entrypoint|command):/m.test(server)]).toEqual([true, false])
  const [, command = ''] = /^CMD \["(.*)"\]$/m.exec(readFileSync('deploy/docker/Dockerfile', 'utf8')) ?? []
  expect(findCommand([command]).command.summary).toBe(start.summary)
})

/** A value of Compose with its variables: `${NAME:-default}`, where a default may have variables too. */
function interpolated(text: string, variables: Record<string, string>): string {
  const written = text.replace(/\$\{(\w+):-([^${}]*)\}/g, (_, name: string, otherwise: string) => variables[name] || otherwise)
  return written === text ? text : interpolated(written, variables)
}

test.each([
  [{}, 'http://localhost:3000', '127.0.0.1:3000:3000'],
  [{ PORT: '8080' }, 'http://localhost:8080', '127.0.0.1:8080:3000'],
  [{ PORT: '8080', BASE_URL: 'https://carillon.example' }, 'https://carillon.example', '127.0.0.1:8080:3000'],
])('with %j, Compose serves at the address that links have', (variables, baseUrl, ports) => {
  const compose = interpolated(readFileSync('compose.yaml', 'utf8'), variables)
  expect(/^ {6}BASE_URL: (\S+)$/m.exec(compose)?.[1]).toBe(baseUrl)
  expect(/^ {4}ports: \["(.+)"\]$/m.exec(compose)?.[1]).toBe(ports)
})

test('the service of systemd may read the addresses of the machine, and stops PostgreSQL through the server only', () => {
  const unit = lines('deploy/systemd/carillon.service')
  // `os.networkInterfaces()` fails without AF_NETLINK.
  expect(unit.find((line) => line.startsWith('RestrictAddressFamilies='))?.split(/[= ]/)).toContain('AF_NETLINK')
  expect(unit).toContain('KillMode=mixed')
})
