/** Connecting a TCP socket within a time. */
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'

/** Resolves when the connection is established, and rejects when it is not in time. */
export const connectSocket = (options: TcpNetConnectOpts, connectMs: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ ...options, timeout: connectMs })
    const failed = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    const tooLate = () => failed(Object.assign(new Error('The connection was not established in time'), { code: 'ETIMEDOUT' }))
    socket.once('error', failed)
    socket.once('timeout', tooLate)
    socket.once('connect', () => {
      socket.off('error', failed)
      socket.off('timeout', tooLate)
      socket.setTimeout(0)
      resolve(socket)
    })
  })
