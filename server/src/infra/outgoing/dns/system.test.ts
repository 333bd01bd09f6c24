import { Resolver } from 'node:dns/promises'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFakeDns } from '../../../../test/internet/fake-dns.ts'
import type { HostLookup } from '../../../lib/egress.ts'
import { createHostLookup } from './system.ts'

const ANSWERED_WITHIN_MS = 60_000
const SILENT_AFTER_MS = 1000

/** A system that finds each name at 192.0.2.1, but does not come to an end for those of `silent`, which its name servers do not answer for. */
async function system(...silent: string[]) {
  const names = ['fine.example', 'hook.team.cluster.test']
  const dns = await openFakeDns(new Map(names.map((name) => [name, { a: ['192.0.2.1'] }])))
  for (const name of silent) dns.fault(name, 'timeout')
  const folder = await mkdtemp(join(tmpdir(), 'hosts-'))
  const hostsFile = join(folder, 'hosts')
  await writeFile(hostsFile, '127.0.0.1 localhost # here\n192.0.2.1\tOther.example named.example\n')
  const serversFile = join(folder, 'resolv.conf')
  await writeFile(serversFile, '# search of.comment\nsearch shop.cluster.test cluster.test\noptions timeout:2 ndots:2\n')
  const asked: string[] = []
  const given = Promise.withResolvers<Awaited<ReturnType<HostLookup>>>()
  const found = [{ address: '192.0.2.1', family: 4 }]
  let timeout = ANSWERED_WITHIN_MS
  const lookup = createHostLookup({
    find: async (host) => {
      asked.push(host)
      return silent.includes(host) ? given.promise : found
    },
    openResolver: () => {
      const resolver = new Resolver({ timeout, tries: 1 })
      resolver.setServers([dns.server])
      return resolver
    },
    hostsFile,
    serversFile,
  })
  return {
    asked,
    dns,
    found,
    lookup,
    /** Looks up a name that the name servers do not answer for. */
    lookupSilent: async (host: string) => {
      timeout = SILENT_AFTER_MS
      return lookup(host).finally(() => {
        timeout = ANSWERED_WITHIN_MS
      })
    },
    giveUp: () => given.reject(Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' })),
    async [Symbol.asyncDispose]() {
      await Promise.all([dns[Symbol.asyncDispose](), rm(folder, { recursive: true })])
    },
  }
}

const AGAIN = { code: 'EAI_AGAIN' }

test('names whose name servers do not answer hold up no others, and only one of them is asked for at a time', async () => {
  await using s = await system('one.example', 'two.example')
  const first = s.lookup('one.example')
  await expect(s.lookupSilent('two.example')).rejects.toMatchObject(AGAIN)
  expect(await s.lookup('fine.example')).toEqual(s.found)
  expect(await s.lookup('absent.example')).toEqual(s.found)
  expect(s.asked).toEqual(['one.example', 'fine.example', 'absent.example'])
  s.giveUp()
  await expect(first).rejects.toMatchObject(AGAIN)
  await expect(s.lookup('two.example')).rejects.toMatchObject(AGAIN)
  expect(s.asked).toContain('two.example')
})

test.each(['localhost', 'receiver', 'named.example', 'other.example'])('%s is found without name servers meanwhile', async (host) => {
  await using s = await system('one.example')
  s.dns.fault(host, 'timeout')
  const first = s.lookup('one.example')
  expect(await s.lookup(host)).toEqual(s.found)
  s.giveUp()
  await expect(first).rejects.toMatchObject(AGAIN)
})

test('a name that a search domain completes is found meanwhile, also if its name servers do not answer for it as it stands', async () => {
  await using s = await system('one.example')
  for (const name of ['hook.team', 'hook.other', 'also.hook.team']) s.dns.fault(name, 'timeout')
  const first = s.lookup('one.example')
  expect(await s.lookupSilent('hook.team')).toEqual(s.found)
  for (const name of ['hook.other', 'also.hook.team']) await expect(s.lookupSilent(name)).rejects.toMatchObject(AGAIN)
  s.giveUp()
  await expect(first).rejects.toMatchObject(AGAIN)
})
