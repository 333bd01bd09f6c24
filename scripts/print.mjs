/**
 * Writes what is printed from the code: `node scripts/print.mjs`. With `--check` it writes nothing and fails with the name
 * of every file that is not what the code says now.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pages } from './print/pages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const onlyCheck = process.argv.includes('--check')

for (const [file, text] of Object.entries(await pages())) {
  const path = join(root, file)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (onlyCheck) {
    process.stderr.write(`${file} is stale: run npm run print.\n`)
    process.exitCode = 1
  } else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    process.stdout.write(`${file}\n`)
  }
}
