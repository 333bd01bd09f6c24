/** NATS with JetStream on loopback, where its program is installed: Debian's package `nats-server`, or the program that NATS_SERVER names. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { vi } from 'vitest'
import { temporaryDir } from './child-server.ts'
import { SOON } from './wait.ts'

const PROGRAM = process.env.NATS_SERVER ?? 'nats-server'
const PAYLOAD_MAX_BYTES = 2_097_152

/** Whether tests with NATS can run. Those that cannot are skipped, and the first of them says why. */
export const hasNats = (() => {
  try {
    execFileSync(PROGRAM, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    process.stderr.write('Tests with NATS are skipped: install nats-server, or name its program by NATS_SERVER.\n')
    return false
  }
})()

export type Nats = AsyncDisposable & {
  url: string
  /** Ends it as a crash does. */
  kill(): Promise<void>
  /** Starts it again at the same address, with its files. */
  restart(): Promise<void>
  /** Keeps a copy of its files, while it does not run. */
  copyFiles(): void
  /** Replaces its files by the copy, while it does not run: as a crash of the machine does with what was not written to the disk. */
  restoreFiles(): void
}

/** Starts one that is ready. `lines` are added to its configuration. */
export async function openNats(
  lines: string[] = ['jetstream { store_dir: "DIR/store" }', `max_payload: ${PAYLOAD_MAX_BYTES}`],
): Promise<Nats> {
  await using closing = new AsyncDisposableStack()
  const { path } = closing.use(await temporaryDir())
  const config = join(path, 'nats.conf')
  let port = -1
  let child: ChildProcess
  const start = async () => {
    const common = [`listen: "127.0.0.1:${port}"`, `ports_file_dir: "${path}"`]
    writeFileSync(config, [...common, ...lines].join('\n').replaceAll('DIR', path))
    child = spawn(PROGRAM, ['-c', config], { stdio: 'ignore' })
    port = await vi.waitFor(() => portIn(path, child.pid), SOON)
  }
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await start()
  closing.defer(kill)
  const closer = closing.move()
  const [store, copy] = [join(path, 'store'), join(path, 'copy')]
  return {
    url: `nats://127.0.0.1:${port}`,
    kill,
    restart: start,
    copyFiles: () => cpSync(store, copy, { recursive: true }),
    restoreFiles() {
      rmSync(store, { recursive: true })
      cpSync(copy, store, { recursive: true })
    },
    [Symbol.asyncDispose]: () => closer.disposeAsync(),
  }
}

/** The port that it wrote to a file when it was ready. */
function portIn(path: string, pid: number | undefined): number {
  const file = readdirSync(path).find((name) => name.endsWith(`_${pid}.ports`))
  if (!file) throw new Error('NATS is not ready.')
  const { nats } = JSON.parse(readFileSync(join(path, file), 'utf8')) as { nats: [string] }
  return Number(new URL(nats[0]).port)
}

let streams = 0

/** Streams reserve it on the disk. With the default of 1 GiB, those of a file of tests would take more than small machines have. */
const STREAM_BYTES = 128 * 1024 * 1024

/** The settings of a world with a stream of its own. */
export const logSettings = ({ url }: Pick<Nats, 'url'>): Record<string, string> => ({
  LOG_URL: url,
  LOG_STREAM: `test-${++streams}`,
  LOG_BYTES_MAX: String(STREAM_BYTES),
})

async function ask({ LOG_URL }: Record<string, string>, subject: string, text: string): Promise<void> {
  const connection = await connect({ servers: LOG_URL as string })
  await connection.request(subject, text)
  await connection.close()
}

/** Appends a text that is no request. */
export const appendByHand = (settings: Record<string, string>, text: string) => ask(settings, `${settings.LOG_STREAM}.accepted`, text)

/** Deletes a stream with everything that waits in it. */
export const deleteLog = (settings: Record<string, string>) => ask(settings, `$JS.API.STREAM.DELETE.${settings.LOG_STREAM}`, '')
