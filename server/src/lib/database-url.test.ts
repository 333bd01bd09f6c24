import { expect, test } from 'vitest'
import { databaseHosts } from './database-url.ts'

test.each([
  ['postgres://kim:p%40ss@db/carillon', ['postgres://kim:p%40ss@db/carillon'], false],
  ['postgres://kim@db/carillon?target_session_attrs=read-write&sslmode=disable', ['postgres://kim@db/carillon?sslmode=disable'], true],
  ['postgres://kim@one:5433,two,[::1]:1/c', ['postgres://kim@one:5433/c', 'postgres://kim@two/c', 'postgres://kim@[::1]:1/c'], true],
  ['postgres://one,two/c?target_session_attrs=any', ['postgres://one/c', 'postgres://two/c'], false],
  ['postgres://one,two/c?target_session_attrs=primary', ['postgres://one/c', 'postgres://two/c'], true],
  ['postgres://kim:p@127.0.0.1:5432/c?host=%2Frun%2Fdata', ['postgres://kim:p@127.0.0.1:5432/c?host=%2Frun%2Fdata'], false],
])('%s', (url, urls, needsPrimary) => expect(databaseHosts(url)).toEqual({ urls, needsPrimary }))

test.each(['db', 'http://one,two/c', 'postgres://one,two:x/c', 'postgres://k%@one/c', 'postgres://one/c?target_session_attrs=standby'])(
  '%s is refused',
  (url) => expect(databaseHosts(url)).toBeNull(),
)
