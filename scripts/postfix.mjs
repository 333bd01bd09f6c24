// Delivers to a real Postfix, as to a mail host and as to a relay, and says what it replied. Needs root and Debian's package `postfix`, which
// may be unpacked elsewhere: `apt-get download postfix && dpkg -x postfix_*.deb DIR`, then `node scripts/postfix.mjs DIR`.
import { spawn } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMxClient } from '../server/src/infra/outgoing/mx/client.ts'
import { createSmtpRelays } from '../server/src/infra/outgoing/smtp-relays.ts'
import { systemClock } from '../server/src/infra/runtime/clock.ts'
import { egressPolicy } from '../server/src/lib/egress.ts'

const root = resolve(process.argv[2] ?? '/')
const sbin = join(root, 'usr/lib/postfix/sbin')
const PORT = 12525
const ADDRESS = '127.0.0.9'
// Accounts that Debian has, and that own nothing here. Postfix refuses to share one.
const OWNER = { name: 'list', uid: 38 }
const GROUP = { name: 'games', gid: 60 }
const MAILS = 300
const TRIES_MAX = 50
const TRY_AGAIN_MS = 100
const LOGGED_AFTER_MS = 1000

const SERVICES = `
${ADDRESS}:${PORT} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`

/** Writes a configuration that takes email for two addresses and throws it away. */
async function configure(dir) {
  const main = {
    compatibility_level: '3.6',
    daemon_directory: sbin,
    command_directory: join(root, 'usr/sbin'),
    shlib_directory: join(root, 'usr/lib/postfix'),
    meta_directory: join(root, 'etc/postfix'),
    data_directory: join(dir, 'data'),
    queue_directory: join(dir, 'spool'),
    mail_owner: OWNER.name,
    setgid_group: GROUP.name,
    import_environment: 'MAIL_CONFIG LD_LIBRARY_PATH PATH',
    export_environment: 'MAIL_CONFIG LD_LIBRARY_PATH PATH TZ',
    myhostname: 'mx.postfix.test',
    mydestination: '',
    mynetworks: '192.0.2.0/24',
    inet_protocols: 'ipv4',
    inet_interfaces: '127.0.0.1',
    relay_domains: 'postfix.test',
    relay_transport: 'discard:accepted',
    relay_recipient_maps: 'inline:{one@postfix.test=x, two@postfix.test=x}',
    smtpd_relay_restrictions: '',
    smtpd_recipient_restrictions: 'reject_unauth_destination',
    maillog_file: join(dir, 'data/log'),
    maillog_file_prefixes: dir,
    alias_maps: '',
  }
  // Its daemons run as another user.
  await chmod(dir, 0o755)
  for (const name of ['etc', 'spool', 'spool/pid']) await mkdir(join(dir, name))
  await writeFile(
    join(dir, 'etc/main.cf'),
    Object.entries(main)
      .map(([key, value]) => `${key} = ${value}\n`)
      .join(''),
  )
  await writeFile(join(dir, 'etc/master.cf'), SERVICES)
  for (const name of ['active', 'bounce', 'corrupt', 'defer', 'deferred', 'flush', 'hold', 'incoming', 'private', 'saved', 'trace'])
    await mkdirFor(join(dir, 'spool', name), 0o700, 0)
  await mkdirFor(join(dir, 'spool/maildrop'), 0o730, GROUP.gid)
  await mkdirFor(join(dir, 'spool/public'), 0o710, GROUP.gid)
  await mkdirFor(join(dir, 'data'), 0o700, 0)
}

async function mkdirFor(path, mode, gid) {
  await mkdir(path)
  await chown(path, OWNER.uid, gid)
  await chmod(path, mode)
}

/** Starts Postfix. */
function start(dir) {
  const libraries = [join(root, 'usr/lib/postfix'), join(root, 'usr/lib/x86_64-linux-gnu')].join(':')
  const env = { PATH: process.env.PATH, MAIL_CONFIG: join(dir, 'etc'), LD_LIBRARY_PATH: libraries }
  return spawn(join(sbin, 'master'), ['-c', join(dir, 'etc'), '-d'], { env, stdio: 'inherit' })
}

async function waitFor(master) {
  for (let tries = 0; !(await answers()); tries++) {
    if (tries === TRIES_MAX || master.exitCode !== null)
      throw new Error('Postfix did not start. Is the package unpacked, and are you root?')
    await sleep(TRY_AGAIN_MS)
  }
}

const answers = () =>
  new Promise((resolve) => {
    const socket = connect(PORT, ADDRESS, () => resolve(true)).on('error', () => resolve(false))
    socket.setTimeout(1000, () => socket.destroy())
    socket.once('data', () => socket.end('QUIT\r\n'))
  })

const content = Buffer.from('From: a@example.com\r\nSubject: Hello\r\n\r\n.\r\n..dots\r\n')
const policy = egressPolicy(['127.0.0.0/8'])

/** Says what was expected and what happened. A difference fails the run. */
function compare(what, expected, found) {
  const isSame = JSON.stringify(expected) === JSON.stringify(found)
  process.stdout.write(`${isSame ? 'ok  ' : 'FAIL'} ${what} ${JSON.stringify(found)}\n`)
  if (!isSame) process.exitCode = 1
}

async function asMailHost() {
  const resolver = {
    addresses: async () => ({ is: 'addresses', addresses: [ADDRESS], isSecure: false }),
    tlsa: async () => ({ is: 'none' }),
  }
  const client = createMxClient({ policy, resolver, clock: systemClock, name: 'carillon.test', port: PORT, isLoopbackOnly: true })
  const route = { site: 'postfix', domain: 'postfix.test', hosts: [{ host: 'mx.postfix.test', preference: 0 }], steps: [] }
  const deliver = async (to, more = {}) => {
    const mail = { from: 'b.1@example.com', to, content, envelopeId: 'b.1', ...more }
    const { recipients } = await client.deliver(route, mail, { connections: 3, mailsPerConnection: 50 })
    return [...recipients.values()].map((outcome) => `${outcome.is} ${outcome.reply?.code ?? ''}`)
  }
  const one = ['one@postfix.test']
  compare('one recipient', ['delivered 250'], await deliver(one))
  compare(
    'one of three is unknown',
    ['delivered 250', 'permanent 550', 'delivered 250'],
    await deliver([...one, 'no@postfix.test', 'two@postfix.test']),
  )
  compare('another domain', ['permanent 554'], await deliver(['x@elsewhere.test']))
  compare('8BITMIME', ['delivered 250'], await deliver(one, { content: Buffer.from('Subject: x\r\n\r\nGrüße\r\n'), needs8Bit: true }))
  compare('SMTPUTF8', ['delivered 250'], await deliver(one, { from: 'jürgen@example.com', needsSmtpUtf8: true }))
  compare('more than its SIZE', ['permanent 552'], await deliver(one, { content: Buffer.alloc(11_000_000, 'a') }))
  const all = await Promise.all(Array.from({ length: MAILS }, () => deliver(one)))
  compare('many over three connections', MAILS, all.filter(([outcome]) => outcome === 'delivered 250').length)
  client.close()
  return MAILS + 5
}

async function asRelay() {
  await using relays = createSmtpRelays({ policy })
  const relay = { host: ADDRESS, port: PORT, tls: 'opportunistic', connections: 3 }
  const send = async (to) => {
    const { is, code } = await relays.send(relay, { envelope: { from: 'a@example.com', to: [to] }, content })
    return `${is} ${code}`
  }
  compare('as a relay', 'accepted 250', await send('one@postfix.test'))
  compare('as a relay: unknown', 'refused 550', await send('no@postfix.test'))
  return 1
}

const dir = await mkdtemp(join(tmpdir(), 'postfix-'))
await configure(dir)
const master = start(dir)
try {
  await waitFor(master)
  const accepted = (await asMailHost()) + (await asRelay())
  await sleep(LOGGED_AFTER_MS)
  const log = await readFile(join(dir, 'data/log'), 'utf8')
  compare('recipients in its log', accepted, log.match(/status=sent/g)?.length ?? 0)
} finally {
  master.kill()
  await rm(dir, { recursive: true, force: true })
}
