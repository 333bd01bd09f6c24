/** The API versions that are served, newest first (D-VER-1). */
export const VERSIONS: readonly string[] = ['2026-11-20']
export const LATEST_VERSION = '2026-11-20'
/** The release of this server. */
export const VERSION = '0.1.0'
