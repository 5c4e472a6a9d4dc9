import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { findPostgres } from './test/support/backends.ts'

// The end of a test file's name says where it runs: `*.db.test.ts` on every backend, `*.pg.test.ts` on PostgreSQL
// alone (it needs several connections), any other `*.test.ts` once, without a database of its own.
const everyBackend = 'test/**/*.db.test.ts'
const postgresOnly = 'test/**/*.pg.test.ts'

export default defineConfig(async () => {
  const postgres = await findPostgres()
  // No test measures time: a limit is there to end what hangs, also on a machine that is busy with other work.
  const limits = { testTimeout: 120_000, hookTimeout: 240_000 }
  const database = {
    ...limits,
    globalSetup: ['test/support/database-setup.ts'],
    env: { STEPWARDEN_TEST_POSTGRES: postgres ?? '' },
  }
  return {
    test: {
      // Tests wait for processes and disks for much of their time, so no core is kept free for anything else.
      maxWorkers: availableParallelism(),
      projects: [
        {
          test: {
            name: 'unit',
            include: ['test/**/*.test.ts'],
            exclude: [everyBackend, postgresOnly],
            ...limits,
          },
        },
        { test: { name: 'pglite', include: [everyBackend], ...database } },
        ...(postgres === undefined
          ? []
          : [{ test: { name: 'postgres', include: [everyBackend, postgresOnly], ...database } }]),
      ],
    },
  }
})
