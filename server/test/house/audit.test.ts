/** Every write of configuration is in the audit log (D-CON-21), whoever adds the route. */
import { describe, expect, test } from 'vitest'
import { routes } from '../all-routes.ts'

const writing = routes.filter(({ method, path }) => method !== 'GET' && !path.startsWith('/api/ext/'))

describe('audit', () => {
  test('every route that writes says what the audit log records, or why it records nothing', () => {
    expect(writing.filter(({ audit }) => audit === undefined).map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })

  test('a recorded write commits with its entry, so its route does not wait for other servers', () => {
    const apart = writing.filter(({ audit, records }) => audit && !('none' in audit) && records !== undefined)
    expect(apart.map(({ path }) => path)).toEqual([])
  })

  test('routes that only read record nothing', () => {
    expect(routes.filter(({ method, audit }) => method === 'GET' && audit !== undefined)).toEqual([])
  })
})
