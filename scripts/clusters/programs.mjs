// Starts the programs of a cluster in a folder of its own, and ends them.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import {
  chooseRunAs,
  copyLocations,
  findPostgresPackage,
  POSTGRES_ENVIRONMENT,
  preparePrograms,
} from '../../server/src/infra/postgres/embedded-postgres-programs.ts'

const MAIN = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
/** Debian's, unless another one is named. */
export const PGBOUNCER = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'
const USER = 'carillon'
const TRIES_MAX = 1200
const TRY_AGAIN_MS = 100
const END_WAIT_MS = 10_000
const CONNECT_WAIT_MS = 30_000
/** Second ports are that much above the first. */
const ABOVE = 1000

/** Says what was expected and what happened. A difference fails the run. */
export function compare(what, expected, found) {
  const isSame = JSON.stringify(expected) === JSON.stringify(found)
  process.stdout.write(
    `${isSame ? 'ok  ' : 'FAIL'} ${what}: ${JSON.stringify(found)}${isSame ? '' : `, not ${JSON.stringify(expected)}`}\n`,
  )
  if (!isSame) process.exitCode = 1
}

/** Waits until `found` returns something. */
export async function until(what, found) {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const value = await found()
    if (value) return value
    await sleep(TRY_AGAIN_MS)
  }
  throw new Error(`Not within ${(TRIES_MAX * TRY_AGAIN_MS) / 1000} seconds: ${what}`)
}

async function ownFolder({ dir, owner }, name) {
  const path = join(dir, name)
  await mkdir(path, { mode: 0o700 })
  await chown(path, owner.uid, owner.gid)
  return path
}

function start({ dir, children }, program, args, options) {
  const child = spawn(program, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'], ...options })
  const log = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => log.push(data))
  children.add(child)
  return { child, log: () => Buffer.concat(log).toString() }
}

/** Runs a statement. Returns the values of the first column. */
async function query(port, statement, database) {
  const client = new pg.Client({ host: '127.0.0.1', port, user: USER, database, connectionTimeoutMillis: CONNECT_WAIT_MS })
  client.on('error', () => undefined)
  await client.connect()
  const { rows } = await client.query({ text: statement, rowMode: 'array' }).finally(() => client.end())
  return rows.map(([value]) => value)
}

const answers = (port, database) =>
  query(port, 'select 1', database).then(
    () => true,
    () => false,
  )

/** A primary, and a standby of it if that has a port too. The standby is a copy of the data before the first start. */
async function startPostgres(cluster, port, standbyPort) {
  const data = await ownFolder(cluster, `data-${port}`)
  execFileSync(join(cluster.bin, 'initdb'), ['-D', data, '-U', USER, '-A', 'trust', '--no-sync'], { ...cluster.owner, cwd: cluster.dir })
  if (standbyPort) await copyForStandby(cluster, data, port, standbyPort)
  const primary = await startServer(cluster, data, port)
  await query(port, 'create database carillon', 'postgres')
  return { primary, ...(standbyPort && { standby: await startServer(cluster, standbyOf(data), standbyPort) }) }
}

const standbyOf = (data) => `${data}-standby`

async function copyForStandby({ owner }, data, port) {
  const copy = standbyOf(data)
  await cp(data, copy, { recursive: true })
  execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, copy])
  await chmod(copy, 0o700)
  await writeFile(join(copy, 'standby.signal'), '')
  await writeFile(join(copy, 'postgresql.auto.conf'), `primary_conninfo = 'host=127.0.0.1 port=${port} user=${USER}'\n`)
  await chown(join(copy, 'standby.signal'), owner.uid, owner.gid)
}

async function startServer(cluster, data, port) {
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${data}`, 'timezone=Asia/Kolkata']
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  const server = start(cluster, join(cluster.bin, 'postgres'), args, { ...cluster.owner, env: POSTGRES_ENVIRONMENT })
  await until(`PostgreSQL at ${port}`, () => {
    if (server.child.exitCode !== null) throw new Error(`PostgreSQL ended:\n${server.log()}`)
    return answers(port, 'postgres')
  })
  return server.child
}

/** PgBouncer in transaction mode, in front of the server at the port `database`. */
async function startPgbouncer(cluster, port, database, more) {
  const path = await ownFolder(cluster, 'pgbouncer')
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(path, 'users'),
    ...more,
  }
  const lines = Object.entries({ pool_mode: 'transaction', default_pool_size: 8, ...settings }).map(([key, value]) => `${key} = ${value}`)
  await writeFile(join(path, 'ini'), `[databases]\ncarillon = host=127.0.0.1 port=${database}\n[pgbouncer]\n${lines.join('\n')}\n`)
  await writeFile(join(path, 'users'), `"${USER}" ""\n`)
  start(cluster, PGBOUNCER, [join(path, 'ini')], cluster.owner)
  await until('PgBouncer', () => answers(port, 'carillon'))
}

/**
 * A cluster that Patroni leads, over a node of etcd at the port `etcd`, with a member for each port and its REST API at the port above the
 * thousandth. A commit waits for a standby. Returns the members by their ports, with the process of Patroni and how to kill them.
 */
async function startPatroni(cluster, ports, etcd) {
  if (process.env.POSTGRES === undefined) throw new Error('Patroni needs pg_basebackup: name a PostgreSQL by POSTGRES.')
  const [client, peer] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${etcd + 1}`]
  const urls = ['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer]
  const peers = ['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`]
  start(cluster, 'etcd', ['--data-dir', await ownFolder(cluster, 'etcd'), ...urls, ...peers], cluster.owner)
  await until('etcd', () =>
    fetch(`${client}/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const members = new Map()
  for (const port of ports) {
    const path = await ownFolder(cluster, `patroni-${port}`)
    await writeFile(join(path, 'yaml'), JSON.stringify(patroniConfig(cluster, path, port, etcd)))
    const { child } = start(cluster, 'patroni', [join(path, 'yaml')], { ...cluster.owner, env: POSTGRES_ENVIRONMENT })
    const kill = async () => {
      child.kill('SIGKILL')
      process.kill(Number((await readFile(join(path, 'data/postmaster.pid'), 'utf8')).split('\n')[0]), 'SIGKILL')
    }
    members.set(port, { port, api: `http://127.0.0.1:${port + ABOVE}`, kill })
    await until(`the member ${port}`, () => answers(port, 'postgres'))
  }
  return members
}

/** JSON is YAML. */
const patroniConfig = ({ bin }, path, port, etcd) => ({
  scope: 'carillon',
  name: `member-${port}`,
  restapi: { listen: `127.0.0.1:${port + ABOVE}`, connect_address: `127.0.0.1:${port + ABOVE}` },
  etcd3: { host: `127.0.0.1:${etcd}` },
  bootstrap: {
    dcs: { ttl: 20, loop_wait: 2, retry_timeout: 5, synchronous_mode: true, postgresql: { use_slots: true } },
    initdb: ['no-sync', { auth: 'trust' }],
  },
  postgresql: {
    listen: `127.0.0.1:${port}`,
    connect_address: `127.0.0.1:${port}`,
    data_dir: join(path, 'data'),
    bin_dir: bin,
    pgpass: join(path, 'pgpass'),
    authentication: { superuser: { username: USER }, replication: { username: USER } },
    parameters: { unix_socket_directories: path, timezone: 'Asia/Kolkata' },
    pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
  },
})

/** Starts PostgreSQL again with the data of a primary that was killed. */
const startAgain = (cluster, port) => startServer(cluster, join(cluster.dir, `data-${port}`), port)

/** A cluster of NATS with JetStream, one node for each port. Nodes find each other at the port above the thousandth. */
async function startNats(cluster, ports) {
  const routeOf = (port) => `127.0.0.1:${port + ABOVE}`
  const nodes = []
  for (const port of ports) {
    const path = await ownFolder(cluster, `nats-${port}`)
    const config = [
      `server_name: "node-${port}"`,
      `listen: "127.0.0.1:${port}"`,
      'max_payload: 2MB',
      `jetstream { store_dir: "${path}" }`,
      `cluster { name: "clusters", listen: "${routeOf(port)}", routes: [${ports.map((other) => `"nats://${routeOf(other)}"`).join(', ')}] }`,
    ]
    await writeFile(join(path, 'conf'), config.join('\n'))
    nodes.push(start(cluster, 'nats-server', ['-c', join(path, 'conf')], cluster.owner))
  }
  await until('a leader of NATS', () => nodes.some(({ log }) => /JetStream cluster new metadata leader/.test(log())))
  return nodes.map(({ child }) => child)
}

/** A server, which is ready: this release, or another one by its `main.ts`. Throws with its log if it ends. */
async function startCarillon(cluster, env, main = MAIN) {
  const common = {
    PATH: process.env.PATH,
    DATA_DIR: join(cluster.dir, 'data'),
    PORT: '0',
    RATE_READ: '0',
    RATE_WRITE: '0',
    LOG_SUCCESS_EVERY: '0',
  }
  const server = start(cluster, process.execPath, [main, 'all'], { env: { ...common, ...env } })
  const url = await until('the server', () => {
    if (server.child.exitCode !== null) throw new Error(`The server ended:\n${server.log()}`)
    return /ready at (\S+);/.exec(server.log())?.[1]
  })
  return { ...server, url }
}

/** Ends what was started last first. */
async function close({ dir, children }) {
  for (const child of [...children].reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGINT')
    const timeout = setTimeout(() => child.kill('SIGKILL'), END_WAIT_MS)
    await once(child, 'exit')
    clearTimeout(timeout)
  }
  await rm(dir, { recursive: true, force: true })
}

/** A folder for a cluster, whose programs are ended when it is disposed of. PostgreSQL and PgBouncer do not run as root. */
export async function openCluster() {
  const dir = await mkdtemp(join(tmpdir(), 'clusters-'))
  await chmod(dir, 0o755)
  const owner = chooseRunAs(dir)
  const cluster = { dir, owner, bin: join(await programs(owner, dir), 'bin'), children: new Set() }
  return {
    postgres: (...ports) => startPostgres(cluster, ...ports),
    postgresAgain: (port) => startAgain(cluster, port),
    nats: (ports) => startNats(cluster, ports),
    patroni: (ports, etcd) => startPatroni(cluster, ports, etcd),
    pgbouncer: (...args) => startPgbouncer(cluster, ...args),
    dir,
    carillon: (env, main) => startCarillon(cluster, env, main),
    sql: (port, statement, database = 'postgres') => query(port, statement, database),
    [Symbol.asyncDispose]: () => close(cluster),
  }
}

/** A folder of PostgreSQL programs: that of `POSTGRES`, such as /usr/lib/postgresql/17, or the package that the server comes with. */
const programs = (owner, dir) => process.env.POSTGRES ?? preparePrograms(findPostgresPackage(), owner, copyLocations(dir))

export const urlOf = (hosts) => `postgres://${USER}@${hosts}/carillon`
