import { count, define, type Problems, problemLines } from './entry.ts'

/** The process, its configuration and its database. */
export const deployment = {
  CONFIG_INVALID: define<Problems>(
    'invalid',
    (d) =>
      `The configuration has ${count(d.problems)}:${problemLines(d.problems)}\nSee .env.example for the variables of the environment, and docs/library.md for the options of an application.`,
  ),
  TOOL_MODULE_INVALID: define<{ path: string; problem: string }>(
    'invalid',
    (d) =>
      `The tool module ${d.path} ${d.problem}. See docs/tools.md; STEPWARDEN_CONFIG names the module.`,
  ),
  SOURCES_INVALID: define<{ file: string } & Problems>(
    'invalid',
    (d) =>
      `The tool sources of ${d.file} have ${count(d.problems)}:${problemLines(d.problems)}\nSee docs/sources.md.`,
  ),
  SOURCE_UNAVAILABLE: define<{ source: string; problem: string }>(
    'unavailable',
    (d) =>
      `The tool source '${d.source}' cannot be asked what it offers: ${d.problem}. Its tools would be missing, so nothing was started; try again when it is there.`,
    { retryable: true },
  ),
  TENANT_NOT_FOUND: define<{ tenantId: string }>(
    'not_found',
    (d) =>
      `There is no tenant '${d.tenantId}' in this database. STEPWARDEN_TENANT names the one to work for; without it that is 'default'.`,
  ),
  DATABASE_UNAVAILABLE: define<{ database: string; problem: string }>(
    'unavailable',
    (d) =>
      `The database ${d.database} cannot be reached: ${d.problem}. Check that it runs and that DATABASE_URL names it with the right user and password.`,
    { retryable: true },
  ),
  CHANGES_COLLIDED: define<{ database: string }>(
    'unavailable',
    (d) =>
      `Two transactions stood in each other's way at ${d.database}, and this one was undone: nothing was changed. Try again.`,
    { retryable: true },
  ),
  DATABASE_NOT_READY: define<{ database: string; problem: string; nextMove: string }>(
    'unavailable',
    (d) => `The database ${d.database} cannot be used yet: ${d.problem}. ${d.nextMove}`,
  ),
  DATABASE_BUSY: define<{ waitedMs: number }>(
    'unavailable',
    (d) =>
      `No database connection became free within ${d.waitedMs} ms. Either there is more work than connections, or code inside a transaction asked for a second connection: it must use the transaction's own handle.`,
    { retryable: true },
  ),
  SCHEMA_OUTDATED: define<{ database: string; missing: readonly string[] }>(
    'unavailable',
    (d) =>
      `The schema of ${d.database} is older than this code: it lacks ${d.missing.join(', ')}. Run 'stepwarden migrate'.`,
  ),
  SCHEMA_NEEDS_NEWER_CODE: define<{
    database: string
    migration: string
    required: string
    found: string
  }>(
    'unavailable',
    (d) =>
      `The schema of ${d.database} needs stepwarden ${d.required} or newer, since migration ${d.migration}; this is ${d.found}. Install a newer version.`,
  ),
  DATA_FOLDER_IN_USE: define<{ folder: string; holder: string; nextMove: string }>(
    'unavailable',
    (d) => `The data folder ${d.folder} is in use by ${d.holder}. ${d.nextMove}`,
    { retryable: true },
  ),
  DATA_FOLDER_UNUSABLE: define<{ folder: string; problem: string }>(
    'unavailable',
    (d) =>
      `The data folder ${d.folder} cannot be used: ${d.problem}. Check its permissions and the space left on its disk, or name another with STEPWARDEN_DATA_DIR.`,
  ),
  INTERNAL: define<Record<string, never>>(
    'internal',
    () => 'Something failed inside the service. The log has the cause.',
  ),
}
