import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isServiceError } from '../../src/domain/errors.ts'
import type { Operation } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { buildWorld, type Names, neverNamed, worldTools } from '../support/tenant-world.ts'

/** It stands still, so that two answers differ in nothing that time makes. */
const now = Date.parse('2026-11-30T12:00:00Z')
const { app, db } = await openTestApp({ tools: worldTools, clock: { now: () => now } })

type OperationName = keyof typeof operations
const names = Object.keys(operations).filter((name): name is OperationName => name in operations)

const definition = (key: string) => ({
  ...{ key, name: key, description: 'For tests.', internal: true },
  steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
})
const first = (n: Names) => ({ procedureKey: n.procedureKey, versionNumber: 1 })
const draft = (n: Names) => ({ procedureKey: n.procedureKey, versionNumber: 2 })
const experience = {
  ...{ situation: 'An account', outcome: 'Done', outcomeType: 'success' },
  actionSequence: [{ tool: 'look' }],
}
const digest = 'a'.repeat(64)
const reason = 'Because.'
const later = new Date(now + 3_600_000).toISOString()

/**
 * How each operation can be asked about something by its name, its id, a cursor or a filter. A new operation has its entry
 * here, or says by an empty list that it names nothing.
 */
const probes: Readonly<Record<OperationName, (n: Names) => readonly object[]>> = {
  activateVersion: (n) => [
    { ...draft(n), seenActive: 1 },
    { ...draft(n), seenActive: null },
  ],
  answerStep: (n) => [{ executionId: n.askingId, step: 'ask', answer: 'yes' }],
  approveStep: (n) => [{ executionId: n.agreeingId, step: 'agree' }],
  denyStep: (n) => [{ executionId: n.agreeingId, step: 'agree' }],
  listWaitingSteps: (n) => [
    { executionId: n.askingId },
    { cursor: `${n.askingId}:1` },
    { executionId: n.askingId, mine: true },
  ],
  assignEscalation: (n) => [{ escalationId: n.escalationId, assignee: 'zoe' }],
  calibrateEmbeddings: () => [],
  cancelExecution: (n) => [{ executionId: n.askingId }, { executionId: n.executionId }],
  continueEmbeddingSwitch: () => [],
  createProcedure: (n) => [{ definition: definition(`${n.procedureKey}_NEW`) }],
  createVersion: (n) => [
    { procedureKey: n.procedureKey },
    { ...{ procedureKey: n.procedureKey, fromVersionNumber: 1 } },
  ],
  deleteDraft: (n) => [draft(n)],
  deprecateVersion: (n) => [first(n)],
  diffVersions: (n) => [
    { procedureKey: n.procedureKey },
    { procedureKey: n.procedureKey, fromVersionNumber: 1, toVersionNumber: 2 },
    { procedureKey: n.procedureKey, definition: definition(n.procedureKey) },
  ],
  editDraft: (n) => [{ ...draft(n), revision: 1, definition: definition(n.procedureKey) }],
  getCalendar: () => [],
  whoAmI: () => [],
  getEmbeddings: () => [],
  getEscalation: (n) => [{ escalationId: n.escalationId }],
  getExecution: (n) => [{ executionId: n.executionId }, { executionId: n.askingId }],
  getProcedure: (n) => [
    { procedureKey: n.procedureKey },
    first(n),
    { procedureKey: n.procedureKey, asOf: new Date(now).toISOString() },
  ],
  getStats: () => [],
  holdExecutions: () => [],
  listEscalations: (n) => [
    { cursor: n.escalationId },
    { queue: n.customerId },
    { executionId: n.executionId },
  ],
  listExecutions: (n) => [
    { procedureKey: n.procedureKey },
    { cursor: n.executionId },
    { customerId: n.customerId },
    { ticketId: n.ticketId },
    { requesterId: n.principalId },
  ],
  listProcedures: (n) => [{ cursor: n.procedureKey }],
  listScenarios: (n) => [{ procedureKey: n.procedureKey }, first(n)],
  pauseExecution: (n) => [{ executionId: n.askingId }],
  replayExecution: (n) => [{ executionId: n.executionId }],
  resolveEscalation: (n) => [{ escalationId: n.escalationId, resolution: 'Done.' }],
  resolveTicket: (n) => [
    { ticket: { text: 'Look at it.' }, procedureKey: n.procedureKey },
    { ticket: { text: 'Look at it.' }, customerId: n.customerId, context: { of: n.phrase } },
    { ticket: { text: 'Look at it.' }, idempotencyKey: n.idempotencyKey, ticketId: n.ticketId },
  ],
  resumeExecution: (n) => [{ executionId: n.askingId }],
  searchProcedures: (n) => [{ issue: 'look at it', context: { of: n.phrase } }],
  setScenarios: (n) => [{ ...draft(n), revision: 1, scenarios: [] }],
  simulateVersion: (n) => [{ procedureKey: n.procedureKey }, draft(n)],
  backtestVersion: (n) => [draft(n)],
  continueBacktest: (n) => [{ backtestId: n.backtestId }],
  cancelBacktest: (n) => [{ backtestId: n.backtestId }],
  getBacktest: (n) => [
    { backtestId: n.backtestId },
    { backtestId: n.backtestId, cursor: n.executionId },
  ],
  listBacktests: (n) => [draft(n), { ...draft(n), cursor: n.backtestId }],
  getInsights: (n) => [{ procedureKey: n.procedureKey }, first(n)],
  recordExecution: (n) => [
    {
      ...{ versionId: n.versionId, success: true, durationMs: 1 },
      idempotencyKey: n.idempotencyKey,
    },
    { ...first(n), success: false, durationMs: 1 },
  ],
  getTrackRecord: (n) => [{ procedureKey: n.procedureKey }, first(n)],
  setCalendar: () => [],
  startExecution: (n) => [
    { procedureKey: n.procedureKey, idempotencyKey: n.idempotencyKey },
    { procedureKey: n.stoppedKey, customerId: n.customerId, ticketId: n.ticketId },
  ],
  switchEmbeddings: () => [],
  changePrincipal: (n) => [{ principalId: n.principalId, roles: [] }],
  createKey: (n) => [{ principalId: n.principalId }],
  createPrincipal: (n) => [{ principalId: n.principalId, roles: ['agent'] }],
  getApproval: (n) => [first(n), draft(n)],
  listKeys: (n) => [{ principalId: n.principalId }, { cursor: n.keyId }],
  listPrincipals: (n) => [{ cursor: n.principalId }],
  reviewVersion: (n) => [{ ...draft(n), digest, verdict: 'comment', comment: reason }],
  revokeKey: (n) => [{ keyId: n.keyId }],
  bundleExecution: (n) => [{ executionId: n.executionId }],
  exportAudit: (n) => [
    { what: 'executions', filters: { procedureKey: n.procedureKey } },
    { what: 'executions', filters: { customerId: n.customerId } },
    { what: 'executions', cursor: n.executionId },
    { what: 'steps', filters: { ticketId: n.ticketId } },
    { what: 'steps', cursor: `${n.executionId}:0` },
    { what: 'events', filters: { principal: n.requester } },
    ...['reviews', 'procedure_versions'].map((table) => ({
      what: 'evidence',
      cursor: JSON.stringify({ part: 'rows', table, after: n.executionId }),
    })),
  ],
  listAuditEvents: (n) => [
    { procedureKey: n.procedureKey },
    { entityId: n.executionId },
    { entityId: n.principalId },
    { principal: n.requester },
    { entityKind: 'key', entityId: n.keyId, cursor: '5' },
  ],
  makeCheckpoint: () => [],
  sealExecutions: () => [],
  verifyAudit: () => [],
  eraseCustomer: (n) => [
    { customerId: n.customerId, reason, dryRun: true },
    { customerId: n.customerId, reason },
  ],
  getRetention: () => [],
  setRetention: () => [],
  stopProcedure: (n) => [{ procedureKey: n.stoppedKey, reason }],
  allowProcedure: (n) => [{ procedureKey: n.stoppedKey }],
  stopTool: (n) => [{ tool: n.customerId, reason }],
  allowTool: (n) => [{ tool: n.customerId }],
  listTools: () => [],
  scheduleActivation: (n) => [{ ...draft(n), at: later, seenActive: 1 }],
  rollBackProcedure: (n) => [{ procedureKey: n.procedureKey, toVersionNumber: 1, seenActive: 1 }],
  setReviewBy: (n) => [{ ...first(n), reviewBy: later }],
  cancelSchedule: (n) => [{ scheduleId: n.scheduleId }],
  listSchedules: (n) => [{ procedureKey: n.procedureKey }, { cursor: n.scheduleId }],
  createWebhook: () => [],
  listWebhooks: (n) => [{ cursor: n.webhookId }],
  changeWebhook: (n) => [{ webhookId: n.webhookId, description: reason }],
  rotateWebhookSecret: (n) => [{ webhookId: n.webhookId }],
  testWebhook: (n) => [{ webhookId: n.webhookId }],
  replayWebhook: (n) => [{ webhookId: n.webhookId, since: '2026-01-01T00:00:00Z' }],
  listWebhookDeliveries: (n) => [
    { webhookId: n.webhookId },
    { webhookId: n.webhookId, cursor: n.deliveryId },
  ],
  replayWebhookDelivery: (n) => [{ deliveryId: n.deliveryId }],
  deleteWebhook: (n) => [{ webhookId: n.webhookId }],
  recordExperience: (n) => [
    { ...experience, agentId: n.agentId, sessionId: n.sessionId, customerId: n.customerId },
  ],
  retrieveExperiences: (n) => [
    { situation: 'An account', agentIds: [n.agentId], outcomeType: 'all', minSimilarity: 0 },
  ],
  listExperiences: (n) => [
    { agentId: n.agentId },
    { sessionId: n.sessionId },
    { executionId: n.executionId },
    { cursor: n.experienceId },
  ],
  pruneExperiences: (n) => [
    { agentId: n.agentId, dryRun: true, belowScore: 1, usedFewerThan: 1_000 },
  ],
  getExperience: (n) => [{ experienceId: n.experienceId }],
  listLessons: (n) => [{ cursor: n.taskTag }],
  getLessons: (n) => [{ taskTag: n.taskTag }],
  showLessons: (n) => [{ taskTag: n.taskTag }],
  curateLessons: (n) => [
    { taskTag: n.taskTag },
    { taskTag: n.taskTag, feedback: { score: 0.1, issues: ['Nothing was said.'] } },
  ],
  creditLessons: (n) => [{ showingId: n.showingId, score: 1 }],
  addLesson: (n) => [{ taskTag: n.taskTag, kind: 'helpful', content: 'Ask first' }],
  editLesson: (n) => [{ lessonId: n.lessonId, content: 'Ask last' }],
  removeLesson: (n) => [{ lessonId: n.lessonId }],
  importLessons: (n) => [
    { taskTag: n.taskTag, lessons: [] },
    { taskTag: n.taskTag, lessons: [], replace: true },
  ],
  exportLessons: (n) => [{ taskTag: n.taskTag }],
  proposeProcedure: (n) => [
    { experienceIds: [n.experienceId] },
    { situation: 'An account', agentIds: [n.agentId] },
    {
      ...{ situation: 'An account', customerId: n.customerId },
      actions: [{ tool: 'look', input: { of: n.customerId } }],
      key: `${n.procedureKey}_LEARNED`,
    },
  ],
  proposeImprovement: (n) => [{ ...first(n), feedback: reason }],
  listProposals: (n) => [{ cursor: n.proposalId }, { procedureKey: n.procedureKey }],
  getProposal: (n) => [{ proposalId: n.proposalId }],
  acceptProposal: (n) => [{ proposalId: n.proposalId }],
  dismissProposal: (n) => [{ proposalId: n.proposalId, reason }],
  listGaps: () => [{}, { dismissed: true, limit: 200 }],
  proposeFromGap: (n) => [{ escalationId: n.escalationId }],
}

/** Operations that write nothing, or nothing but that they were asked. */
const reading = names.filter((name) =>
  /^(get|list|search|diff|replay|simulate|bundle|export|verify)/.test(name),
)
/** They tell of that as well, so that asked about everything they answer otherwise each time. */
const tellingOfReads = ['listAuditEvents', 'exportAudit', 'verifyAudit', 'bundleExecution']

let ours: Names
let theirs: Names
let never: Names

beforeAll(async () => {
  await db.addTenant('us')
  await db.addTenant('them')
  ours = await buildWorld(app, 'us', 'OURS')
  theirs = await buildWorld(app, 'them', 'THEIRS')
  never = neverNamed(theirs, 'THEIRS')
})

/** What is answered to one of a tenant who may do everything there: the value, or the error with all that it says. */
async function ask(tenantId: string, name: OperationName, input: object): Promise<string> {
  const operation: Operation = operations[name]
  const caller = { ...callerOf('zoe', undefined, tenantId), origin: 'http' as const }
  try {
    return JSON.stringify(await operation.invoke(app, caller, input))
  } catch (error) {
    if (!isServiceError(error)) throw error
    const { code, kind, message, details, retryable } = error
    return JSON.stringify({ code, kind, message, details, retryable })
  }
}

/** The same text whatever it was asked about: names by what they name, and what was made just now by its kind. */
function withoutNames(answer: string, named: Names): string {
  const known = Object.entries(named).sort(([, a], [, b]) => b.length - a.length)
  return known
    .reduce((text, [what, name]) => text.replaceAll(name, `<${what}>`), answer)
    .replaceAll(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{21}\b/g, '<new>')
    .replaceAll(/sw_[a-z]+_[\w-]{43}/g, '<key>')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')
    .replaceAll(/"asOf":\d+/g, '<head>')
}

/** Everything that a tenant has, as its own rows say. */
async function dumpOf(tenantId: string): Promise<string> {
  return db.asOwner(tenantId, async (client) => {
    const { rows: tables } = await client.query<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relrowsecurity
       ORDER BY 1`,
    )
    const parts: string[] = []
    for (const { relname } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `SELECT t::text AS row FROM ${relname} t ORDER BY 1`,
      )
      parts.push(relname, ...rows.map(({ row }) => row))
    }
    return parts.join('\n')
  })
}

/** The members of an operation's input by which something is named. */
function namingMembers(operation: Operation): readonly string[] {
  const schema = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' })
  return Object.keys(schema.properties ?? {}).filter((member) =>
    /(Id|Key|cursor|principal|filters)$/.test(member),
  )
}

// Those that write come last: what they make in our own tenant has the names that are asked about.
// What deletes comes after all else, which would find nothing any more.
const writing = names.filter((name) => !reading.includes(name))
const isDeleting = (name: string) => /^(delete|erase)/.test(name)
const inOrder = [
  ...reading,
  ...writing.filter((name) => !isDeleting(name)),
  ...writing.filter(isDeleting),
]

describe.each(inOrder)('%s', (name) => {
  it('has a probe for everything by which its input names something', () => {
    const probed = new Set(probes[name](ours).flatMap((input) => Object.keys(input)))

    expect(namingMembers(operations[name]).filter((member) => !probed.has(member))).toEqual([])
  })

  it('answers about what another tenant has as about what never was, and touches none of it', async () => {
    const before = await dumpOf('them')
    for (const [index, input] of probes[name](theirs).entries()) {
      const about = await ask('us', name, input)
      const aboutNothing = await ask('us', name, probes[name](never)[index] ?? {})

      expect(withoutNames(about, theirs), JSON.stringify(input)).toBe(
        withoutNames(aboutNothing, never),
      )
      // Beyond what was asked about, nothing of theirs is told.
      const told = Object.values(theirs).reduce((text, own) => text.replaceAll(own, ''), about)
      expect(told).not.toContain('THEIRS')
    }
    expect(await dumpOf('them')).toBe(before)
  })
})

it('no answer depends on what another tenant does', async () => {
  const askAll = async () => {
    const answers: string[] = []
    for (const name of reading) {
      if (tellingOfReads.includes(name)) continue
      for (const input of [{}, ...probes[name](ours)]) {
        answers.push(`${name} ${JSON.stringify(input)} ${await ask('us', name, input)}`)
      }
    }
    return answers
  }
  // What is noted of reads is noted by now, and what was shown is counted.
  await askAll()
  await app.useCounts.settled()
  const before = await askAll()

  await buildWorld(app, 'them', 'MORE')

  const after = await askAll()
  expect(after).toEqual(before)
  expect(after.join('\n')).not.toContain('MORE')
})

it.each([
  'holdExecutions',
  'switchEmbeddings',
  'continueEmbeddingSwitch',
  'calibrateEmbeddings',
] as const)(
  'no admin of one tenant asks over a network for %s, which concerns all',
  async (name) => {
    const input = name === 'switchEmbeddings' ? { model: 'ngram-512-v1' } : {}
    for (const origin of ['http', 'mcp'] as const) {
      const caller = { ...callerOf('zoe', undefined, 'us'), origin }
      const attempt = operations[name].invoke(app, caller, input)
      await expect(attempt).rejects.toMatchObject({ code: 'DEPLOYMENT_WIDE', kind: 'forbidden' })
    }
  },
)

// Last, for it does to another tenant what its own people may do.
const isNaming = (name: OperationName) =>
  namingMembers(operations[name]).some((member) => member !== 'cursor')
describe.each(inOrder.filter(isNaming))('%s', (name) => {
  it('is asked about what is there: its own tenant is answered otherwise', async () => {
    const differs: boolean[] = []
    for (const [index, input] of probes[name](theirs).entries()) {
      const about = await ask('them', name, input)
      const aboutNothing = await ask('them', name, probes[name](never)[index] ?? {})
      differs.push(withoutNames(about, theirs) !== withoutNames(aboutNothing, never))
    }

    expect(differs).toContain(true)
  })
})
