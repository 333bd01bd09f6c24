import { type Sql, sql } from '../../../infra/postgres/db.ts'
import { OneOf } from '../../../lib/shapes.ts'
import { DEVICE_FIELDS, type DeviceCondition } from '../rule.ts'
import { Comparing, comparisonFaults, compileComparison } from './comparison.ts'
import { condition } from './condition.ts'

const COLUMNS: Record<DeviceCondition['device'], { column: Sql; description: string }> = {
  os: { column: sql`d.os`, description: 'operating system' },
  os_version: { column: sql`d.os_version`, description: 'operating system version' },
  model: { column: sql`d.model`, description: 'model' },
  app_version: { column: sql`d.app_version`, description: 'app version' },
  app_build: { column: sql`d.app_build`, description: 'app build' },
}

/** Holds if at least one device matches. It never holds for users without devices. */
export const device = condition<DeviceCondition>({
  label: 'Device',
  description: 'Users with at least one device that matches.',
  shape: Comparing({ device: OneOf(DEVICE_FIELDS, { description: 'The field of the device.' }) }, 'string'),
  example: { device: 'os', is: 'iOS' },
  faults: (given) => comparisonFaults(given, 'string'),
  compile: (given) => {
    const name = given.device
    const { test, sql: testSql } = compileComparison(given)
    return {
      dependencies: ['devices'],
      needs: 'devices',
      holds: ({ devices }, nowMs) => {
        for (const one of devices) if (test(one[name], nowMs)) return true
        return false
      },
      evidence: ({ devices }) => devices.map((one) => one[name]),
      sql: ({ projectId, now, tables }) => ({
        holds: sql`exists (select from ${tables.devices} d
                           where d.project_id = ${projectId} and d.user_id = u.id and ${testSql(sql`to_jsonb(${COLUMNS[name].column})`, now)})`,
      }),
    }
  },
  describe: (given) => `has a device whose ${COLUMNS[given.device].description} ${compileComparison(given).description}`,
})
