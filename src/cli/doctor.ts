import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type AppContext, loadToolRegistry } from '../context.ts'
import {
  countResting,
  countUnattended,
  findAuditProblem,
  hasTenant,
  readServerState,
} from '../db/queries/health.ts'
import { isServiceError } from '../domain/errors.ts'
import type { Principal } from '../domain/principal.ts'
import type { Caller } from '../operations/define.ts'
import { getEmbeddings } from '../operations/get-embeddings.ts'
import { getProcedure } from '../operations/get-procedure.ts'
import { getStats } from '../operations/get-stats.ts'
import { holdExecutions } from '../operations/hold-executions.ts'
import { listProcedures } from '../operations/list-procedures.ts'
import { probeReplyModel } from '../operations/probe-reply-model.ts'
import { searchProcedures } from '../operations/search-procedures.ts'
import type { Command } from './command.ts'
import { examineExperiences } from './experience-index.ts'
import { exitCodes } from './failures.ts'
import { fallBackText } from './selection-screen.ts'
import type { Shell } from './shell.ts'
import { pad } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText } from './value-line.ts'

/** One thing that was looked at. A check that is not `ok` says what to do. */
interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly text: string
}

/** Enough for the acts of some weeks, in well under a second. */
const recentAuditEvents = 1_000

export const doctor: Command = {
  path: 'doctor',
  summary: 'Look at everything that Stepwarden needs, and say what to do about what is not right',
  notes: `It exits with 0 when nothing fails, and with ${exitCodes.disagrees[0]} when something does. It carries no run on.`,
  options: [
    {
      usage: '--after-restore',
      text: 'first pause all runs that have not ended: they may have acted since the backup',
    },
  ],
  async run(shell, given) {
    const held = given.has('after-restore') ? await hold(shell) : undefined
    const checks = [...(held?.checks ?? []), ...(await examine(shell))]
    const fails = checks.filter(({ status }) => status === 'fail').length
    const warns = checks.filter(({ status }) => status === 'warn').length
    const verdict =
      fails + warns === 0
        ? 'All is well.'
        : `${countText(fails, 'failure')}, ${countText(warns, 'warning')}.`
    return {
      output: { ok: fails === 0, ...(held && { held: held.count }), checks },
      screen: [...checks.map((check) => checkLine(shell.terminal, check)), '', verdict].join('\n'),
      exitCode: fails === 0 ? exitCodes.done[0] : exitCodes.disagrees[0],
    }
  },
}

async function hold(
  shell: Shell,
): Promise<{ readonly count: number; readonly checks: readonly Check[] }> {
  // Opened without carrying anything on: that is what must not happen.
  await shell.bareApp()
  const { held } = await shell.call(holdExecutions, {})
  const text =
    held === 0
      ? '0 runs held: every run of the backup had ended or was paused already'
      : `${countText(held, 'run')} held, of all tenants: they are paused now, as they may have acted since the backup. Compare each with what its tools have done ('stepwarden executions list --status paused'), then resume or cancel it`
  return { count: held, checks: [{ name: 'restore', status: held === 0 ? 'ok' : 'warn', text }] }
}

function checkLine(terminal: Terminal, { name, status, text }: Check): string {
  const tone = { ok: 'good', warn: 'care', fail: 'bad' } as const
  return `${terminal.style(tone[status], pad(status, 4))}  ${pad(name, 14)}  ${terminal.wrap(text, 22)}`
}

/** Looks at one thing after the other; what cannot be looked at without the one before is left out. */
async function examine(shell: Shell): Promise<readonly Check[]> {
  const checks: Check[] = [
    {
      name: 'node',
      status: 'ok',
      text: `${process.version} on ${process.platform} ${process.arch}`,
    },
  ]
  const isConfigured = await look(checks, 'configuration', async () => {
    const { tenantId, toolModule = "the demo's payment desk", logLevel } = shell.config
    return ok(`tenant ${tenantId}; tools of ${toolModule}; log level ${logLevel}`)
  })
  if (!isConfigured) return checks
  const areLoaded = await look(checks, 'tools', async () => {
    const names = [...(await loadToolRegistry(shell.config)).current.keys()]
    return names.length === 0
      ? warn('none is registered, so no playbook can do anything; see docs/tools.md')
      : ok(names.join(', '))
  })
  if (!areLoaded) return checks

  const { database } = shell.config
  if ('dataDir' in database && !existsSync(database.dataDir)) {
    await look(checks, 'data folder', async () => {
      accessSync(nearestFolder(database.dataDir), constants.W_OK)
      return warn(`${database.dataDir} is not there yet; the first command that needs it makes it`)
    })
    return checks
  }
  if ('dataDir' in database && shell.isServed) {
    await examineServed(shell, checks, database.dataDir)
    return checks
  }
  const where = 'dataDir' in database ? 'data folder' : 'database'
  const isOpen = await look(checks, where, async () => {
    const app = await shell.bareApp()
    const { version } = await readServerState(app.database)
    return 'dataDir' in database
      ? ok(
          `${database.dataDir} is writable and ours alone now; PostgreSQL ${version} in this process`,
        )
      : ok(`reached; PostgreSQL ${version}`)
  })
  if (isOpen) await examineOpen(shell, await shell.bareApp(), checks)
  return checks
}

async function examineOpen(shell: Shell, app: AppContext, checks: Check[]): Promise<void> {
  const { tenantId } = shell.config
  const state = await readServerState(app.database)
  await look(checks, 'pgvector', async () =>
    state.pgvectorVersion === null
      ? fail('the extension is missing; see docs/database.md')
      : ok(state.pgvectorVersion),
  )
  await look(checks, 'schema', async () => ok(`up to date, at ${state.lastMigration}`))
  await look(checks, 'role', async () => {
    if (state.mayMakeTemporary) {
      return warn(
        `${state.role} may make temporary objects, which could deceive the guards of the database: a restore has brought that right back. 'stepwarden migrate' takes it away`,
      )
    }
    return state.openTables.length === 0
      ? ok(`${state.role}; row-level security holds for it in every table`)
      : fail(
          `${state.role} sees the rows of all tenants in ${state.openTables.join(', ')}; run the service as the role that docs/database.md names`,
        )
  })
  await look(checks, 'tenant', async () =>
    (await hasTenant(app.database, tenantId))
      ? ok(tenantId)
      : fail(`there is no tenant '${tenantId}'; STEPWARDEN_TENANT names the one to work for`),
  )
  await look(checks, 'approvals', async () => {
    const required = state.requiredApprovals
    return required === 0
      ? warn(
          'nothing needs an approval here (ungoverned); STEPWARDEN_REQUIRED_APPROVALS=1 asks for that of one person',
        )
      : ok(`what goes live needs ${countText(required, 'approval')}`)
  })
  await look(checks, 'playbooks', async () => examinePlaybooks(app, await shell.principal(app)))
  await examineSearch(shell, checks)
  await look(checks, 'experiences', () => examineExperiences(shell))
  await look(checks, 'reply model', () => examineReplyModel(shell, app))
  await look(checks, 'executions', () => examineExecutions(app, tenantId))
  await look(checks, 'audit', async () => {
    const problem = await findAuditProblem(app.database, tenantId, recentAuditEvents)
    return problem === undefined
      ? ok(`the chain of the last ${recentAuditEvents} events is whole`)
      : fail(`${problem} Somebody wrote past the service: find out who, and restore from a backup.`)
  })
}

async function examineSearch(shell: Shell, checks: Check[]): Promise<void> {
  await look(checks, 'search', async () => {
    const selection = await shell.call(searchProcedures, { issue: 'doctor' })
    const { model, fellBack, minSimilarity, calibrated } = selection
    if (fellBack) return warn(fallBackText(selection))
    return ok(
      `embedding model ${model}, ${calibrated ? `threshold ${minSimilarity.toFixed(2)}` : 'not measured'}`,
    )
  })
  await look(checks, 'embeddings', async () => {
    const { models, versionCount, advice } = await shell.call(getEmbeddings, {})
    if (advice.length > 0) return warn(advice.join(' '))
    const whole = models.filter(({ vectorCount }) => vectorCount === versionCount)
    return ok(
      `${countText(versionCount, 'version')}, all with vectors of ${whole.map(({ model }) => model).join(', ')}`,
    )
  })
}

/** What the process that has the folder open answers; what only the database could say is left to a doctor after it. */
async function examineServed(shell: Shell, checks: Check[], dataDir: string): Promise<void> {
  const isAnswering = await look(checks, 'data folder', async () => {
    await shell.call(getStats, {})
    return ok(`${dataDir} is open in the process that serves it, which answers`)
  })
  if (!isAnswering) return
  await examineSearch(shell, checks)
  await look(checks, 'left out', async () =>
    ok('schema, role, playbooks, runs and audit log: stop the server to have them looked at'),
  )
}

async function examineExecutions(
  { database, worker }: AppContext,
  tenantId: string,
): Promise<Omit<Check, 'name'>> {
  const { paused, waiting } = await countResting(database, tenantId)
  const resting = `${paused} paused, ${waiting} waiting for a moment`
  const count = await countUnattended(database, worker.id)
  if (count === 0) return ok(`none is without a worker; ${resting}`)
  const who =
    database.kind === 'pglite'
      ? "'stepwarden worker' carries them on, as does the next command that runs a playbook"
      : "'stepwarden worker' carries them on"
  return warn(
    `${countText(count, 'execution')} without a worker, only stored or left by one that is gone; ${who}; ${resting}`,
  )
}

async function examineReplyModel(
  { config }: Shell,
  { replyModel }: AppContext,
): Promise<Omit<Check, 'name'>> {
  if (replyModel === undefined) return ok('no key: replies are composed without a model')
  const server = new URL(config.openai?.baseUrl ?? 'https://api.openai.com').host
  const problem = await probeReplyModel(replyModel)
  return problem === undefined
    ? ok(`${replyModel.name} at ${server} answers`)
    : warn(`${replyModel.name} at ${server}: ${problem} Until then replies are built in.`)
}

/** Whether the tools are here that the active playbooks of the tenant were approved with. */
export async function examinePlaybooks(
  app: AppContext,
  principal: Principal,
): Promise<Omit<Check, 'name'>> {
  const caller: Caller = { principal, origin: 'cli' }
  const affected: string[] = []
  let active = 0
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof listProcedures.invoke>> = await listProcedures.invoke(
      app,
      caller,
      { limit: 200, ...(cursor !== null && { cursor }) },
    )
    for (const { procedureKey, activeVersionNumber } of page.items) {
      if (activeVersionNumber === null) continue
      active += 1
      const { version } = await getProcedure.invoke(app, caller, {
        procedureKey,
        versionNumber: activeVersionNumber,
      })
      const missing = Object.entries(version.toolContracts).filter(
        ([name, hash]) => app.tools.find(name, hash) === undefined,
      )
      if (missing.length > 0) {
        affected.push(
          `${procedureKey} version ${activeVersionNumber} (${missing.map(([name]) => name).join(', ')})`,
        )
      }
    }
    cursor = page.nextCursor
  } while (cursor !== null)
  if (affected.length > 0) {
    return fail(
      `tools have changed or are gone, so these escalate at once: ${affected.join('; ')}. Register the approved tools again, or make and activate new versions`,
    )
  }
  return active === 0
    ? warn("no version is active; 'stepwarden procedures seed' loads those of the demo")
    : ok(`${countText(active, 'active version')}, all with the tools that they were approved with`)
}

/** Adds a check; one that throws fails with the message, which names the next move. Answers whether it did not. */
async function look(
  checks: Check[],
  name: string,
  run: () => Promise<Omit<Check, 'name'>>,
): Promise<boolean> {
  try {
    checks.push({ name, ...(await run()) })
    return true
  } catch (error) {
    // Whatever it is, it is what doctor was asked to find.
    const text = error instanceof Error ? error.message : String(error)
    checks.push({ name, ...fail(isServiceError(error) ? text : `${text}; see the log`) })
    return false
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path))
}

function ok(text: string): Omit<Check, 'name'> {
  return { status: 'ok', text }
}

function warn(text: string): Omit<Check, 'name'> {
  return { status: 'warn', text }
}

function fail(text: string): Omit<Check, 'name'> {
  return { status: 'fail', text }
}
