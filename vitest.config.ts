import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { findPostgres } from './test/support/backends.ts'

// The end of a test file's name says where it runs: `*.db.test.ts` on every backend, `*.pg.test.ts` on PostgreSQL
// alone (it needs several connections), any other `*.test.ts` once, without a database of its own.
const everyBackend = 'test/**/*.db.test.ts'
const postgresOnly = 'test/**/*.pg.test.ts'

// `npm test` builds first: the tests of the command start it as the package has it, in half the time.
const built =
  process.env.npm_lifecycle_event === 'test'
    ? fileURLToPath(new URL('dist/src/cli/main.js', import.meta.url))
    : ''

export default defineConfig(async () => {
  const postgres = await findPostgres()
  // No test measures time: a limit is there to end what hangs, also on a machine that is busy with other work.
  const limits = { testTimeout: 120_000, hookTimeout: 240_000 }
  const database = {
    ...limits,
    globalSetup: ['test/support/database-setup.ts'],
    env: { STEPWARDEN_TEST_POSTGRES: postgres ?? '', STEPWARDEN_TEST_BUILT: built },
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
            env: { STEPWARDEN_TEST_BUILT: built },
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
