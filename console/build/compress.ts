/** Writes each built file again with Brotli and gzip, so that the server never compresses them. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const COMPRESSED = /\.(?:js|css|html|svg|json)$/
const BYTES_MIN = 1024
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }

/** Compresses the files of a folder. Fonts and pictures are compressed already. */
export async function compressFiles(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && COMPRESSED.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
  await Promise.all(paths.map(compressFile))
}

async function compressFile(path: string) {
  const bytes = await readFile(path)
  if (bytes.length < BYTES_MIN) return
  await Promise.all([
    writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, BROTLI)),
    writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 })),
  ])
}
