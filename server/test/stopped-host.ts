/** A host on loopback to which no connection can be made, and none is refused: its process is stopped, and its backlog is full. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type StoppedHost = AsyncDisposable & { port: number }

const LISTENER = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })`
const FILLING = 4

export async function openStoppedHost(): Promise<StoppedHost> {
  const child = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  const port = Number(line)
  child.kill('SIGSTOP')
  const sockets: Socket[] = Array.from({ length: FILLING }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  await once(sockets[0] as Socket, 'connect')
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
