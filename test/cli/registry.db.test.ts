import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { isServiceError, type ServiceError } from '../../src/domain/errors.ts'
import { statusOfKind } from '../../src/domain/http-status.ts'
import { type Role, roles } from '../../src/domain/principal.ts'
import { authenticate } from '../../src/operations/authenticate.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { openCliDoor } from '../support/cli-door.ts'
import { keyFor } from '../support/http.ts'
import { buildWorld, type Names, neverNamed, worldTools } from '../support/tenant-world.ts'
import { temporaryFolder } from './run-cli.ts'

/**
 * Every operation is called twice: as the library has it, and by its command with `--json`. Each door has a tenant of its own
 * with the same things in it and goes the same way through them, so that the answers differ in ids and times alone.
 */

type OperationName = keyof typeof operations

/** One thing that is asked, in the words of both doors. */
interface Asked {
  readonly words: readonly string[]
  readonly input: object
  /** What is on standard output, as the operation answers it; default: one JSON value that is the answer. */
  readonly read?: (stdout: string) => unknown
}

/** A world, and runs that are denied and cancelled. */
interface Things extends Names {
  readonly secondAskingId: string
  readonly secondAgreeingId: string
}

type Ask = (
  names: Things,
  approvalOf: (procedureKey: string, versionNumber: number) => Promise<string>,
) => Asked | Promise<Asked>

/** It moves with every look, so that both worlds have their things in the same order: that of their ids. */
let now = Date.parse('2026-11-30T12:00:00Z')
const clock = {
  now: () => {
    now += 1
    return now
  },
}
const { app, db } = await openTestApp({ tools: worldTools, clock })
const folder = temporaryFolder()
const later = '2026-12-02T12:00:00.000Z'
const reason = 'Because.'

/** A file that holds a value, for a command that takes one. */
function file(name: string, value: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(value))
  return path
}

const definition = (key: string) => ({
  ...{ key, name: key, description: 'For tests.', internal: true },
  steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
})
const lines = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
/** A draft that comes from a file has its findings with line and column in that. */
const withoutPlaces = (stdout: string) => {
  const { findings, ...saved } = JSON.parse(stdout)
  const plainOf = ({ line: _line, column: _column, ...finding }: Record<string, unknown>) => finding
  return { ...saved, findings: findings.map(plainOf) }
}
const calendar = { weekdays: [1, 2, 3], holidays: [] }
const experience = {
  ...{ agentId: 'walker', situation: 'An order', outcome: 'Done', outcomeType: 'success' },
  actionSequence: [{ tool: 'look' }],
}
const lessons = [{ kind: 'helpful', content: 'Ask first' }]

/** In the order in which they are asked: what is read first, and what is deleted last. */
const asked: Partial<Record<OperationName, Ask>> = {
  whoAmI: () => ({ words: ['whoami'], input: {} }),
  getStats: () => ({ words: ['stats'], input: {} }),
  listProcedures: () => ({ words: ['procedures', 'list', '--limit', '3'], input: { limit: 3 } }),
  getProcedure: (n) => ({
    words: ['procedures', 'show', n.procedureKey, '1'],
    input: { procedureKey: n.procedureKey, versionNumber: 1 },
  }),
  listScenarios: (n) => ({
    words: ['procedures', 'scenarios', n.procedureKey, '1'],
    input: { procedureKey: n.procedureKey, versionNumber: 1 },
  }),
  simulateVersion: (n) => ({
    words: ['procedures', 'simulate', n.procedureKey, '1'],
    input: { procedureKey: n.procedureKey, versionNumber: 1 },
  }),
  getApproval: (n) => ({
    words: ['procedures', 'review', n.procedureKey, '2'],
    input: { procedureKey: n.procedureKey, versionNumber: 2 },
  }),
  diffVersions: (n) => ({
    words: ['diff', n.procedureKey, '1', '2'],
    input: { procedureKey: n.procedureKey, fromVersionNumber: 1, toVersionNumber: 2 },
  }),
  getInsights: (n) => ({
    words: ['insights', n.procedureKey],
    input: { procedureKey: n.procedureKey },
  }),
  recordExecution: (n) => ({
    words: ['executions', 'record', n.procedureKey, '1', '--duration', '1500', '--failed'],
    input: { procedureKey: n.procedureKey, versionNumber: 1, success: false, durationMs: 1_500 },
  }),
  getTrackRecord: (n) => ({
    words: ['procedures', 'record', n.procedureKey, '1'],
    input: { procedureKey: n.procedureKey, versionNumber: 1 },
  }),
  searchProcedures: (n) => ({
    words: ['search', `look at the ${n.phrase}`, '--top', '2'],
    input: { issue: `look at the ${n.phrase}`, topK: 2 },
  }),
  listTools: () => ({ words: ['tools', 'list'], input: {} }),
  listSchedules: (n) => ({
    words: ['procedures', 'schedules', n.procedureKey],
    input: { procedureKey: n.procedureKey },
  }),
  listBacktests: (n) => ({
    words: ['backtests', 'list', n.procedureKey, '2'],
    input: { procedureKey: n.procedureKey, versionNumber: 2 },
  }),
  getBacktest: (n) => ({
    words: ['backtests', 'show', n.backtestId],
    input: { backtestId: n.backtestId },
  }),
  listExecutions: (n) => ({
    words: ['executions', 'list', '--customer', n.customerId],
    input: { customerId: n.customerId },
  }),
  getExecution: (n) => ({
    words: ['executions', 'show', n.executionId],
    input: { executionId: n.executionId },
  }),
  replayExecution: (n) => ({
    words: ['executions', 'replay', n.executionId],
    input: { executionId: n.executionId },
  }),
  bundleExecution: (n) => ({
    words: ['audit', 'bundle', n.executionId],
    input: { executionId: n.executionId },
    read: (stdout) => ({ lines: lines(stdout) }),
  }),
  listWaitingSteps: (n) => ({
    words: ['executions', 'waiting', '--execution', n.askingId],
    input: { executionId: n.askingId },
  }),
  listEscalations: () => ({ words: ['escalations', 'list'], input: {} }),
  getEscalation: (n) => ({
    words: ['escalations', 'show', n.escalationId],
    input: { escalationId: n.escalationId },
  }),
  getCalendar: () => ({ words: ['calendar', 'show'], input: {} }),
  getEmbeddings: () => ({ words: ['embeddings', 'status'], input: {} }),
  listPrincipals: () => ({ words: ['principals', 'list'], input: {} }),
  listKeys: (n) => ({
    words: ['keys', 'list', '--of', n.principalId],
    input: { principalId: n.principalId },
  }),
  listWebhooks: () => ({ words: ['webhooks', 'list'], input: {} }),
  listWebhookDeliveries: (n) => ({
    words: ['webhooks', 'deliveries', n.webhookId],
    input: { webhookId: n.webhookId },
  }),
  getExperience: (n) => ({
    words: ['experiences', 'show', n.experienceId],
    input: { experienceId: n.experienceId },
  }),
  listExperiences: (n) => ({
    words: ['experiences', 'list', '--agent', n.agentId],
    input: { agentId: n.agentId },
  }),
  retrieveExperiences: (n) => ({
    words: ['experiences', 'find', 'An account', '--agent', n.agentId],
    input: { situation: 'An account', agentIds: [n.agentId] },
  }),
  listLessons: () => ({ words: ['lessons', 'list'], input: {} }),
  getLessons: (n) => ({ words: ['lessons', 'show', n.taskTag], input: { taskTag: n.taskTag } }),
  exportLessons: (n) => ({
    words: ['lessons', 'export', n.taskTag],
    input: { taskTag: n.taskTag },
  }),
  listProposals: () => ({
    words: ['proposals', 'list', '--status', 'all'],
    input: { status: 'all' },
  }),
  getProposal: (n) => ({
    words: ['proposals', 'show', n.proposalId],
    input: { proposalId: n.proposalId },
  }),
  getRetention: () => ({ words: ['retention', 'show'], input: {} }),
  listAuditEvents: (n) => ({
    words: ['audit', 'list', '--procedure', n.procedureKey],
    input: { procedureKey: n.procedureKey },
  }),
  exportAudit: (n) => ({
    words: ['audit', 'export', '--what', 'executions', '--procedure', n.procedureKey],
    input: { what: 'executions', filters: { procedureKey: n.procedureKey } },
    read: (stdout) => ({ rows: lines(stdout), nextCursor: null }),
  }),
  verifyAudit: () => ({ words: ['audit', 'verify', '--replay'], input: { replay: true } }),

  createProcedure: (n) => ({
    words: ['procedures', 'create', file('new.json', definition(`${n.procedureKey}_NEW`))],
    input: { definition: definition(`${n.procedureKey}_NEW`) },
    read: withoutPlaces,
  }),
  cancelSchedule: (n) => ({
    words: ['procedures', 'unschedule', n.scheduleId],
    input: { scheduleId: n.scheduleId },
  }),
  editDraft: (n) => ({
    words: [
      ...['procedures', 'edit', n.procedureKey, '2', '--revision', '1'],
      ...['--file', file('edited.json', definition(n.procedureKey))],
    ],
    input: {
      ...{ procedureKey: n.procedureKey, versionNumber: 2, revision: 1 },
      definition: definition(n.procedureKey),
    },
    read: withoutPlaces,
  }),
  setScenarios: (n) => ({
    words: [
      ...['procedures', 'scenarios', n.procedureKey, '2', '--revision', '2'],
      ...['--set', file('scenarios.json', { procedure: n.procedureKey, scenarios: [] })],
    ],
    input: { procedureKey: n.procedureKey, versionNumber: 2, revision: 2, scenarios: [] },
  }),
  setReviewBy: (n) => ({
    words: ['procedures', 'review-by', n.procedureKey, '1', later],
    input: { procedureKey: n.procedureKey, versionNumber: 1, reviewBy: later },
  }),
  backtestVersion: (n) => ({
    words: ['backtest', n.procedureKey, '2', '--limit', '1'],
    input: { procedureKey: n.procedureKey, versionNumber: 2, limit: 1, withinMs: 1_000 },
    // The command goes on to the end, and adds the runs that are affected.
    read: (stdout) => {
      const { runs: _runs, nextCursor: _next, ...backtest } = JSON.parse(stdout)
      return backtest
    },
  }),
  cancelBacktest: (n) => ({
    words: ['backtests', 'cancel', n.backtestId],
    input: { backtestId: n.backtestId },
  }),
  reviewVersion: async (n, approvalOf) => {
    const digest = await approvalOf(n.procedureKey, 2)
    return {
      words: [
        ...['procedures', 'comment', n.procedureKey, '2', '--comment', reason],
        ...['--digest', digest],
      ],
      input: {
        ...{ procedureKey: n.procedureKey, versionNumber: 2, digest },
        ...{ verdict: 'comment', comment: reason },
      },
    }
  },
  scheduleActivation: (n) => ({
    words: ['procedures', 'activate', n.procedureKey, '2', '--seen', '1', '--at', later],
    input: { procedureKey: n.procedureKey, versionNumber: 2, seenActive: 1, at: later },
  }),
  activateVersion: (n) => ({
    words: ['procedures', 'activate', n.procedureKey, '2', '--seen', '1'],
    input: { procedureKey: n.procedureKey, versionNumber: 2, seenActive: 1 },
  }),
  rollBackProcedure: (n) => ({
    words: ['procedures', 'rollback', n.procedureKey, '1', '--seen', '2'],
    input: { procedureKey: n.procedureKey, toVersionNumber: 1, seenActive: 2 },
  }),
  createVersion: (n) => ({
    words: ['procedures', 'new-version', n.procedureKey, '--from', '1'],
    input: { procedureKey: n.procedureKey, fromVersionNumber: 1 },
  }),
  allowProcedure: (n) => ({
    words: ['procedures', 'allow', n.stoppedKey],
    input: { procedureKey: n.stoppedKey },
  }),
  stopProcedure: (n) => ({
    words: ['procedures', 'stop', n.stoppedKey, '--reason', reason],
    input: { procedureKey: n.stoppedKey, reason },
  }),
  deprecateVersion: (n) => ({
    words: ['procedures', 'deprecate', n.stoppedKey, '1'],
    input: { procedureKey: n.stoppedKey, versionNumber: 1 },
  }),
  stopTool: () => ({
    words: ['tools', 'stop', 'fail', '--reason', reason],
    input: { tool: 'fail', reason },
  }),
  allowTool: () => ({ words: ['tools', 'allow', 'fail'], input: { tool: 'fail' } }),

  resolveTicket: (n) => ({
    words: ['resolve', `look at the ${n.phrase}`, '--idempotency-key', 'walk-resolve'],
    input: { ticket: { text: `look at the ${n.phrase}` }, idempotencyKey: 'walk-resolve' },
  }),
  startExecution: (n) => ({
    words: ['executions', 'start', n.procedureKey, '--input', '{"account":"a"}'],
    input: { procedureKey: n.procedureKey, input: { account: 'a' } },
  }),
  pauseExecution: (n) => ({
    words: ['executions', 'pause', n.askingId],
    input: { executionId: n.askingId },
  }),
  resumeExecution: (n) => ({
    words: ['executions', 'resume', n.askingId],
    input: { executionId: n.askingId },
  }),
  answerStep: (n) => ({
    words: ['executions', 'answer', n.askingId, 'ask', '--answer', '"yes"'],
    input: { executionId: n.askingId, step: 'ask', answer: 'yes' },
  }),
  approveStep: (n) => ({
    words: ['executions', 'approve', n.agreeingId, 'agree', '--comment', 'Fine.'],
    input: { executionId: n.agreeingId, step: 'agree', comment: 'Fine.' },
  }),
  assignEscalation: (n) => ({
    words: ['escalations', 'assign', n.escalationId, 'zoe'],
    input: { escalationId: n.escalationId, assignee: 'zoe' },
  }),
  resolveEscalation: (n) => ({
    words: ['escalations', 'resolve', n.escalationId, 'Done.'],
    input: { escalationId: n.escalationId, resolution: 'Done.' },
  }),
  sealExecutions: () => ({ words: ['audit', 'seal'], input: {} }),

  setCalendar: () => ({
    words: ['calendar', 'set', file('calendar.json', calendar)],
    input: { calendar },
  }),
  setRetention: () => ({ words: ['retention', 'set', '400'], input: { days: 400 } }),
  createPrincipal: () => ({
    words: ['principals', 'add', 'newcomer', '--roles', 'agent,author', '--kind', 'ai'],
    input: { principalId: 'newcomer', roles: ['agent', 'author'], kind: 'ai' },
  }),
  changePrincipal: (n) => ({
    words: ['principals', 'set', n.principalId, '--roles', 'author'],
    input: { principalId: n.principalId, roles: ['author'] },
  }),
  createKey: (n) => ({
    words: ['keys', 'create', n.principalId, '--name', 'second', '--expires', '30'],
    input: { principalId: n.principalId, name: 'second', expiresInDays: 30 },
  }),
  createWebhook: () => ({
    words: ['webhooks', 'add', 'https://hooks.example.com/walk', '--events', 'execution.completed'],
    input: { url: 'https://hooks.example.com/walk', events: ['execution.completed'] },
  }),
  changeWebhook: (n) => ({
    words: ['webhooks', 'change', n.webhookId, '--pause'],
    input: { webhookId: n.webhookId, paused: true },
  }),
  rotateWebhookSecret: (n) => ({
    words: ['webhooks', 'rotate', n.webhookId],
    input: { webhookId: n.webhookId },
  }),
  testWebhook: (n) => ({
    words: ['webhooks', 'test', n.webhookId],
    input: { webhookId: n.webhookId },
  }),
  replayWebhookDelivery: (n) => ({
    words: ['webhooks', 'replay', n.deliveryId],
    input: { deliveryId: n.deliveryId },
  }),
  replayWebhook: (n) => ({
    words: ['webhooks', 'replay', n.webhookId, '--since', '2026-01-01'],
    input: { webhookId: n.webhookId, since: '2026-01-01T00:00:00.000Z' },
  }),
  recordExperience: () => ({
    words: ['experiences', 'record', file('experience.json', experience)],
    input: experience,
  }),
  pruneExperiences: (n) => ({
    words: ['experiences', 'prune', '--dry-run', '--agent', n.agentId],
    input: { dryRun: true, agentId: n.agentId },
  }),
  listGaps: () => ({
    words: ['gaps', 'list', '--kind', 'escalated', '--dismissed', '--limit', '3'],
    input: { kind: 'escalated', dismissed: true, limit: 3 },
  }),
  proposeFromGap: (n) => ({
    words: ['gaps', 'propose', n.escalationId],
    input: { escalationId: n.escalationId },
  }),
  creditLessons: (n) => ({
    words: ['lessons', 'credit', n.showingId, '0.5'],
    input: { showingId: n.showingId, score: 0.5 },
  }),
  showLessons: (n) => ({ words: ['lessons', 'take', n.taskTag], input: { taskTag: n.taskTag } }),
  curateLessons: (n) => ({
    words: ['lessons', 'curate', n.taskTag, '--score', '0.1', '--issue', 'too slow'],
    input: { taskTag: n.taskTag, feedback: { score: 0.1, issues: ['too slow'] } },
  }),
  addLesson: (n) => ({
    words: ['lessons', 'add', n.taskTag, 'Ask', 'twice'],
    input: { taskTag: n.taskTag, kind: 'helpful', content: 'Ask twice' },
  }),
  editLesson: (n) => ({
    words: ['lessons', 'edit', n.lessonId, 'Ask', 'last'],
    input: { lessonId: n.lessonId, content: 'Ask last' },
  }),
  importLessons: (n) => ({
    words: ['lessons', 'import', file('lessons.json', { taskTag: n.taskTag, lessons })],
    input: { taskTag: n.taskTag, lessons },
  }),
  removeLesson: (n) => ({
    words: ['lessons', 'remove', n.lessonId],
    input: { lessonId: n.lessonId },
  }),
  proposeProcedure: (n) => ({
    words: ['proposals', 'from-experiences', '--ids', n.experienceId],
    input: { experienceIds: [n.experienceId] },
  }),
  proposeImprovement: (n) => ({
    words: ['proposals', 'improve', n.procedureKey, '1', '--feedback', reason],
    input: { procedureKey: n.procedureKey, versionNumber: 1, feedback: reason },
  }),
  acceptProposal: (n) => ({
    words: ['proposals', 'accept', n.proposalId],
    input: { proposalId: n.proposalId },
  }),
  dismissProposal: (n) => ({
    words: ['proposals', 'dismiss', n.proposalId, '--reason', reason],
    input: { proposalId: n.proposalId, reason },
  }),
  cancelExecution: (n) => ({
    words: ['executions', 'cancel', n.secondAskingId],
    input: { executionId: n.secondAskingId },
  }),
  denyStep: (n) => ({
    words: ['executions', 'deny', n.secondAgreeingId, 'agree'],
    input: { executionId: n.secondAgreeingId, step: 'agree' },
  }),
  revokeKey: (n) => ({ words: ['keys', 'revoke', n.keyId], input: { keyId: n.keyId } }),
  deleteDraft: (n) => ({
    words: ['procedures', 'delete', `${n.procedureKey}_NEW`, '1'],
    input: { procedureKey: `${n.procedureKey}_NEW`, versionNumber: 1 },
  }),
  deleteWebhook: (n) => ({
    words: ['webhooks', 'remove', n.webhookId],
    input: { webhookId: n.webhookId },
  }),
  calibrateEmbeddings: () => ({ words: ['embeddings', 'calibrate'], input: {} }),
  switchEmbeddings: () => ({
    words: ['embeddings', 'switch', 'no-model'],
    input: { model: 'no-model' },
  }),
  makeCheckpoint: () => ({ words: ['audit', 'checkpoint'], input: {} }),
  eraseCustomer: (n) => ({
    words: ['erase', n.customerId, '--reason', reason],
    input: { customerId: n.customerId, reason },
  }),
}

/** What both doors refuse in the world that there is here, and by what. */
const refused: Partial<Record<OperationName, string>> = {
  cancelBacktest: 'BACKTEST_ENDED',
  calibrateEmbeddings: 'EXAMPLES_TOO_FEW',
  makeCheckpoint: 'CHECKPOINT_KEY_MISSING',
  // One ticket alone is no playbook.
  proposeFromGap: 'PROPOSAL_NOT_LEARNED',
  switchEmbeddings: 'EMBEDDING_MODEL_UNKNOWN',
  proposeImprovement: 'PROPOSAL_NOT_LEARNED',
  dismissProposal: 'PROPOSAL_NOT_OPEN',
}

/** No command answers with one of these alone. */
const withoutCommand: Partial<Record<OperationName, string>> = {
  continueBacktest: '`backtest` goes on to the end by itself: backtest.pg.test.ts',
  continueEmbeddingSwitch:
    '`embeddings switch` goes on to the end by itself: embeddings in test/search',
  holdExecutions: '`doctor --after-restore` holds, and looks at all else: doctor.test.ts',
}

interface Door {
  readonly names: Things
  readonly never: Things
}

const doors: { library?: Door; cli?: Door } = {}
/** The last two are of the tenant of the command line. */
const keys = { library: '', cli: '', revoked: '', auditor: '' }

beforeAll(async () => {
  for (const tenantId of ['library', 'cli'] as const) {
    await db.addTenant(tenantId)
    const names = await buildThings(tenantId)
    doors[tenantId] = { names, never: { ...neverNamed(names, 'WORLD'), ...neverSecond } }
    keys[tenantId] = await keyFor(app, 'zoe', roles, { tenantId })
    keys.auditor = await keyFor(app, 'aud', ['auditor'], { tenantId })
    keys.revoked = await keyFor(app, 'bob', roles, { tenantId })
    const root = callerOf('root', ['admin'], tenantId)
    const { items } = await operations.listKeys.invoke(app, root, { principalId: 'bob' })
    await operations.revokeKey.invoke(app, root, { keyId: items[0]?.keyId })
  }
})

const neverSecond = {
  secondAskingId: 'exec_000000000000000000000',
  secondAgreeingId: 'exec_000000000000000000000',
}

async function buildThings(tenantId: string): Promise<Things> {
  const names = await buildWorld(app, tenantId, 'WORLD')
  const start = async (procedureKey: string) => {
    const root = callerOf('WORLD-root', undefined, tenantId)
    const run = await operations.startExecution.invoke(app, root, { procedureKey })
    return run.execution.id
  }
  const [secondAskingId, secondAgreeingId] = [
    await start('WORLD_ASKS'),
    await start('WORLD_AGREES'),
  ]
  return { ...names, secondAskingId, secondAgreeingId }
}

function doorOf(tenantId: 'library' | 'cli'): Door {
  const door = doors[tenantId]
  if (door === undefined) throw new Error('the worlds are built before')
  return door
}

/** The digest of a version as a reviewer sees it; one that nothing has where there is no such version. */
function approvalsOf(tenantId: string) {
  return async (procedureKey: string, versionNumber: number) => {
    const caller = callerOf('root', undefined, tenantId)
    const input = { procedureKey, versionNumber }
    return operations.getApproval
      .invoke(app, caller, input)
      .then(({ digest }) => digest)
      .catch(() => 'a'.repeat(64))
  }
}

/** What both doors come to. Each finds the world in the state that the same acts have left. */
async function askBoth(name: OperationName, ask: Ask, which: keyof Door) {
  const inLibrary = doorOf('library')[which]
  const { input } = await ask(inLibrary, approvalsOf('library'))
  const principal = await authenticate(app, keys.library)
  const expected = await operations[name].invoke(app, { principal, origin: 'cli' }, input).then(
    (output: unknown) => ({ output: plain(output, inLibrary), error: undefined }),
    (error: unknown) => {
      if (!isServiceError(error)) throw error
      return { output: undefined, error }
    },
  )

  const inCli = doorOf('cli')[which]
  const { words, read = JSON.parse } = await ask(inCli, approvalsOf('cli'))
  const answer = await openCliDoor(app, keys.cli, 'cli')(words)
  if (expected.error === undefined) {
    expect(answer.stderr).toBe('')
    expect(plain(read(answer.stdout), inCli)).toEqual(expected.output)
  } else {
    const { kind } = expected.error
    expect(answer.exitCode, answer.stderr).toBe(documentedExitCodes.get(kind))
    expect(answer.stdout).toBe('')
    const told = JSON.parse(answer.stderr.trim().split('\n').at(-1) ?? '')
    expect(plain(told, inCli)).toEqual(asTold(expected.error, (value) => plain(value, inLibrary)))
  }
  return expected
}

/** What the command tells of an error; where the input is wrong it names its own words, not the operation's fields. */
function asTold(error: ServiceError, plainOf: (value: unknown) => unknown): unknown {
  const { code, message, details } = error
  if (!isServiceError(error, 'REQUEST_INVALID')) return plainOf({ code, message, details })
  return {
    ...{ code, message: expect.stringContaining('--') },
    details: {
      operation: expect.stringMatching(/^stepwarden /),
      problems: error.details.problems.map((problem) => ({
        ...problem,
        path: expect.stringMatching(/^--/),
      })),
    },
  }
}

/** The same for both tenants: without ids, keys, hashes and what is measured. */
function plain(value: unknown, names: Things): unknown {
  const text = Object.entries(names).reduce(
    (all, [what, name]) => (/_[0-9a-z]{21}$/.test(name) ? all.replaceAll(name, `<${what}>`) : all),
    JSON.stringify(value),
  )
  return JSON.parse(
    text
      .replaceAll(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{21}\b/g, '<new>')
      .replaceAll(/sw_[a-z]+_[\w-]{43}/g, '<key>')
      .replaceAll(/whsec_[\w+/=]+/g, '<secret>')
      .replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')
      .replaceAll(/\b\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, '<instant>')
      .replaceAll(/\b1[789]\d{11}\b/g, '0')
      .replaceAll(/"(library|cli)(\\?)"/g, '"<tenant>$2"')
      .replaceAll(/"durationMs":\d+/g, '"durationMs":0')
      // The place of a record in its seal is by a hash of it.
      .replaceAll(/"seq":\d+/g, '"seq":0'),
  )
}

/** The exit code of each kind of error, as docs/errors.md has it. */
const documentedExitCodes = new Map(
  [
    ...readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8').matchAll(
      /^\| `(\w+)` +\| (\d{3}) +\| (\d) +\|/gm,
    ),
  ].map(([, kind, , exitCode]) => [kind ?? '', Number(exitCode)]),
)

it('docs/errors.md tells the status and the exit code of every kind', () => {
  const kinds = Object.entries(statusOfKind)

  expect([...documentedExitCodes.keys()].sort()).toEqual(kinds.map(([kind]) => kind).sort())
})

it('every operation has a command, or a reason why not', () => {
  const told = [...Object.keys(asked), ...Object.keys(withoutCommand)]

  expect(told.sort()).toEqual(Object.keys(operations).sort())
})

const entries = Object.entries(asked).filter((entry): entry is [OperationName, Ask] =>
  isName(entry[0]),
)

it.each(entries)('%s: the command answers what the operation does', async (name, ask) => {
  const { error } = await askBoth(name, ask, 'names')

  expect(error?.code, error?.message).toBe(refused[name])
})

/** An audit log has more events where commands look before they act. */
const naming = entries.filter(([name]) => name !== 'verifyAudit')

it.each(naming)(
  '%s: the command says of names that nothing has what the operation does',
  async (name, ask) => {
    await askBoth(name, ask, 'never')
  },
)

it.each(entries.filter(([name]) => 'limit' in Object(operations[name].input).shape))(
  '%s: the command refuses a number that the operation refuses',
  async (name, ask) => {
    const beyond: Ask = async (...given) => {
      const { words, input } = await ask(...given)
      // The last one given is the one that counts.
      return { words: [...words, '--limit', '9999999'], input: { ...input, limit: 9_999_999 } }
    }

    const { error } = await askBoth(name, beyond, 'names')

    expect(error).toMatchObject({ code: 'REQUEST_INVALID' })
  },
)

it.each(entries)('%s: nobody gets through with a revoked key', async (_name, ask) => {
  const { words } = await ask(doorOf('cli').names, approvalsOf('cli'))

  const answer = await openCliDoor(app, keys.revoked, 'cli')(words)

  expect(answer).toMatchObject({ exitCode: 5, stdout: '' })
  expect(JSON.parse(answer.stderr)).toMatchObject({ code: 'KEY_REFUSED' })
})

it.each(entries.filter(([name]) => !allows(name, 'auditor')))(
  '%s: the command lets in only whom the operation lets in',
  async (_name, ask) => {
    const { words } = await ask(doorOf('cli').names, approvalsOf('cli'))

    const answer = await openCliDoor(app, keys.auditor, 'cli')(words)

    expect(answer).toMatchObject({ exitCode: 5, stdout: '' })
    expect(JSON.parse(answer.stderr)).toMatchObject({ code: 'ROLE_MISSING' })
  },
)

function isName(name: string): name is OperationName {
  return name in operations
}

function allows(name: OperationName, role: Role): boolean {
  const allowed: readonly Role[] = operations[name].roles
  return allowed.includes(role)
}
