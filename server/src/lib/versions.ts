/** The API versions that are served, newest first (D-VER-1). */
export const VERSIONS: readonly string[] = ['2026-11-20']
export const LATEST_VERSION = '2026-11-20'
/** The release of this server. */
export const VERSION = '0.1.0'
/** How requests of the command line begin to name themselves, so that the audit log can tell them from other requests. */
export const CLI_USER_AGENT = 'carillon-cli/'
