import { openDatabase } from '../../src/db/connect.ts'

// A process that opens a data folder, commits a tenant, says so, and goes on until it is killed.
const [folder = '', tenantId = ''] = process.argv.slice(2)
const database = await openDatabase({ dataDir: folder })
await database
  .forTenant(tenantId)
  .kysely.insertInto('tenants')
  .values({ id: tenantId, name: tenantId, created_at: new Date() })
  .execute()
process.stdout.write('committed\n')
setInterval(() => {}, 1_000)
