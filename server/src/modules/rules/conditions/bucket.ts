import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { BucketCondition } from '../rule.ts'
import { Comparing, comparisonFaults, compileComparison } from './comparison.ts'
import { condition } from './condition.ts'

const SEED_LENGTH_MAX = 255
const BUCKETS = 100

/** The first 32 bits of the MD5 of seed and user id, as a number from 0 to 99. */
const bucketOf = (seed: string, id: number) => createHash('md5').update(`${seed}:${id}`).digest().readUInt32BE(0) % BUCKETS

/** Users are divided into a hundred equal buckets, which depend on the seed and never change. */
export const bucket = condition<BucketCondition>({
  label: 'Random bucket',
  description: 'A random sample of users. For each seed, every user has a fixed number from 0 to 99. The numbers are evenly distributed.',
  shape: Comparing(
    {
      bucket: Type.String({
        minLength: 1,
        maxLength: SEED_LENGTH_MAX,
        description: 'The seed: any text. Another seed gives another sample.',
      }),
    },
    'number',
  ),
  example: { bucket: 'spring test', less_than: 10 },
  faults: (given) => comparisonFaults(given, 'number'),
  compile: (given) => {
    const seed = given.bucket
    const { test, sql: testSql } = compileComparison(given)
    const bucketSql = sql`to_jsonb(('x' || left(md5(${seed} || ':' || u.id), 8))::bit(32)::bigint % ${BUCKETS})`
    return {
      dependencies: [],
      holds: ({ id }, nowMs) => test(bucketOf(seed, id), nowMs),
      evidence: ({ id }) => bucketOf(seed, id),
      sql: ({ now }) => ({ holds: testSql(bucketSql, now) }),
    }
  },
  describe: (given) => `bucket “${given.bucket}” ${compileComparison(given).description}`,
})
