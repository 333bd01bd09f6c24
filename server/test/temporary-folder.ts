/** The folder for the databases of tests, which are deleted when their run ends. */
import { access, constants, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'

/** Linux keeps files of this folder in memory: a database of hundreds of small files is created and deleted without a disk. */
const IN_MEMORY = '/dev/shm'
/** A whole run takes less than half of this. */
const ROOM_BYTES = 6 * 1024 ** 3

/** The folder in memory if it has room for a whole run, or the temporary folder of the system. */
export async function temporaryFolder(): Promise<string> {
  try {
    await access(IN_MEMORY, constants.W_OK)
    const { bavail, bsize } = await statfs(IN_MEMORY)
    return bavail * bsize >= ROOM_BYTES ? IN_MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}
