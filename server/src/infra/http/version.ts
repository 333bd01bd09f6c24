import { ApiError, fault } from '../../lib/errors.ts'
import { LATEST_VERSION, VERSIONS } from '../../lib/versions.ts'

const OLDEST_VERSION: string = VERSIONS.at(-1) ?? LATEST_VERSION

/**
 * The API version of a request: that of the header, or else that of the project, which was pinned when the project was created,
 * or else (if that is retired) the oldest version that is served.
 */
export function versionOf(header: string | undefined, pinned: string, required: boolean): string {
  if (header === undefined) {
    if (required)
      throw new ApiError('version_required', `Send a Service-Version header such as \`${LATEST_VERSION}\`.`, { param: 'Service-Version' })
    return isServed(pinned) ? pinned : OLDEST_VERSION
  }
  if (header.trim() === '')
    throw new ApiError('version_required', `Send a Service-Version header such as \`${LATEST_VERSION}\`.`, { param: 'Service-Version' })
  if (!/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(header)) {
    throw fault('parameter_invalid_format', 'Service-Version', 'The value of `Service-Version` must be a date such as `2026-11-20`.')
  }
  if (!isServed(header)) {
    throw new ApiError(
      'version_unsupported',
      `Version \`${header}\` is not supported. Use ${VERSIONS.map((version) => `\`${version}\``).join(' or ')}.`,
      {
        param: 'Service-Version',
      },
    )
  }
  return header
}

const isServed = (version: string) => VERSIONS.includes(version)
