// A server reads its lists from a standby: every write is in the next list, also while the standby stands still or is gone.
import { compare, openCluster, urlOf } from './programs.mjs'
import { callerOf, KEY } from './stories.mjs'

const [FIRST, SECOND] = [25435, 25436]
const ROUNDS = 100

export async function replica() {
  await using cluster = await openCluster()
  const { standby } = await cluster.postgres(FIRST, SECOND)
  const env = { DATABASE_URL: urlOf(`127.0.0.1:${FIRST}`), DATABASE_READ_URL: urlOf(`127.0.0.1:${SECOND}`), BOOTSTRAP_SECRET_KEY: KEY }
  // Who writes asks one process, and who reads asks another.
  const [writing, reading] = [callerOf((await cluster.carillon(env)).url), callerOf((await cluster.carillon(env)).url)]
  const missing = async (about) => {
    let count = 0
    for (let round = 0; round < ROUNDS; round++) {
      await writing('POST', '/users/batch', [{ external_id: `${about}-${round}` }])
      const { results } = await reading('GET', '/users?limit=1&sort=id&direction=desc')
      if (results[0]?.external_id !== `${about}-${round}`) count++
    }
    return count
  }
  const reads = () =>
    cluster.sql(SECOND, `select coalesce(sum(idx_scan), 0)::int from pg_stat_user_tables where relname = 'users'`, 'carillon')
  compare('writes that the next list has not', 0, await missing('following'))
  compare('lists were read from the standby', true, (await reads())[0] > 0)
  await cluster.sql(SECOND, 'select pg_wal_replay_pause()')
  compare('writes that the next list has not, while the standby stands still', 0, await missing('paused'))
  standby.kill('SIGKILL')
  compare('writes that the next list has not, without the standby', 0, await missing('gone'))
}
