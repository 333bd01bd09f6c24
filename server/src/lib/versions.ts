/** Versions of the interface that are served, newest first (D-VER-1). */
export const VERSIONS: readonly string[] = ['2026-11-20']
export const LATEST_VERSION = '2026-11-20'
/** The release that runs. */
export const VERSION = '0.1.0'
