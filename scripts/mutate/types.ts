/** Checks if a mutant compiles. If not, `npm run check` finds it, so it is not a gap in the tests. */
import { join } from 'node:path'
import ts from 'typescript'

export type TypeCheck = {
  /** The file on disk has changed: a mutant, or the original again. */
  changed(file: string): void
  /** Does the file on disk compile? Files that import it are not checked. */
  compiles(file: string): boolean
}

export function startTypeCheck(root: string): TypeCheck {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const versions = new Map<string, number>()
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames,
    getScriptVersion: (path) => String(versions.get(path) ?? 0),
    getScriptSnapshot: (path) => {
      const text = ts.sys.readFile(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    ...(ts.sys.realpath && { realpath: ts.sys.realpath }),
  })
  return {
    changed(file) {
      const path = join(root, file)
      versions.set(path, (versions.get(path) ?? 0) + 1)
    },
    compiles: (file) => service.getSemanticDiagnostics(join(root, file)).length === 0,
  }
}
