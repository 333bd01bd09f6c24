/**
 * Writes the files that are generated from the code: `node scripts/print.mjs`. With `--check`, writes nothing and fails if a file
 * is out of date.
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
    process.stderr.write(`${file} is out of date. Run npm run print.\n`)
    process.exitCode = 1
  } else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    process.stdout.write(`${file}\n`)
  }
}
