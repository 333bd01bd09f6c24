/** A copy of the checkout in a temporary folder, so that mutants are never written to the checkout. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Scratch = AsyncDisposable & {
  root: string
  read(file: string): Promise<string>
  write(file: string, text: string): Promise<void>
}

/** Copies the files that git tracks or would track, and links the dependencies. */
export async function copyCheckout(checkout: string): Promise<Scratch> {
  const root = await mkdtemp(join(tmpdir(), 'carillon-mutate-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: checkout, encoding: 'utf8' })
  const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(checkout, file)))
  await Promise.all(files.map((file) => cp(join(checkout, file), join(root, file))))
  // Packages that a workspace needs in another version than the root are in its own folder.
  for (const folder of ['node_modules', 'server/node_modules'].filter((folder) => existsSync(join(checkout, folder)))) {
    await symlink(join(checkout, folder), join(root, folder))
  }
  return {
    root,
    read: (file) => readFile(join(root, file), 'utf8'),
    write: (file, text) => writeFile(join(root, file), text),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  }
}
