import { statfs } from 'node:fs/promises'

/** The room on the disk of a directory, in bytes. Throws if the directory cannot be read. */
export async function diskOf(directory: string): Promise<{ free_bytes: number; size_bytes: number }> {
  const { bavail, blocks, bsize } = await statfs(directory)
  return { free_bytes: bavail * bsize, size_bytes: blocks * bsize }
}
