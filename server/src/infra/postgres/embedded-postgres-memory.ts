/** How much memory the embedded PostgreSQL may use: more on a larger machine, because users and events that are in it are not read from files. */
import { totalmem } from 'node:os'

const MIB = 1024 ** 2

/** As PostgreSQL recommends for a machine that it has for itself. More than that gives the system less for files, which PostgreSQL reads through it. */
const BUFFERS_SHARE = 1 / 4
const BUFFERS_MIB_MIN = 128
/** Pages are taken as they are used, so a small installation never takes so much. */
const BUFFERS_MIB_MAX = 1024

/** Of one sort or hash table. Each connection may have some. */
const WORK_SHARE = 1 / 256
const WORK_MIB_MIN = 4
const WORK_MIB_MAX = 16

/** The bytes of memory that this process and its children may use: those of the machine, or of the container if it has fewer. */
export function memoryBytes(): number {
  // 0 or more than the machine has where nothing is limited.
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** The settings of PostgreSQL for a machine with this much memory. */
export const memorySettings = (bytes: number) => ({
  shared_buffers: mebibytes(bytes * BUFFERS_SHARE, BUFFERS_MIB_MIN, BUFFERS_MIB_MAX),
  work_mem: mebibytes(bytes * WORK_SHARE, WORK_MIB_MIN, WORK_MIB_MAX),
})

const mebibytes = (bytes: number, min: number, max: number) => `${Math.min(max, Math.max(min, Math.floor(bytes / MIB)))}MB`
