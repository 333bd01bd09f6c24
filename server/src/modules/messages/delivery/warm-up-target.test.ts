import { expect, test } from 'vitest'
import type { Config } from '../../../infra/runtime/config.ts'
import type { MailRow } from '../../mta/index.ts'
import { warmUpTarget } from './warm-up-target.ts'

test.each([
  ['no own address', [], ''],
  ['one', ['192.0.2.1'], '192.0.2.1'],
  ['several, of which a connection chooses one later', ['192.0.2.1', '192.0.2.2'], ''],
  ['more', ['192.0.2.1', '192.0.2.2', '192.0.2.3'], ''],
])('with %s, a warm-up counts email of the domain to the site from %j', (_, MTA_SOURCE_ADDRESSES, sourceAddress) => {
  const config = { MTA_SOURCE_ADDRESSES } as unknown as Config
  expect(warmUpTarget({ config }, { mail_from: 'shop@example.com' } as MailRow, 'google')).toEqual({
    fromDomain: 'example.com',
    site: 'google',
    sourceAddress,
  })
})
