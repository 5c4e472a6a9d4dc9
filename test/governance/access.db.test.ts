import { beforeAll, describe, expect, it } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import { type Role, roles } from '../../src/domain/principal.ts'
import { authenticate } from '../../src/operations/authenticate.ts'
import type { Caller, Operation } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app, db } = await openTestApp({ tools: [] })
const root = callerOf('root')

/** Who may do what, as docs/access.md says it. */
const acts = {
  'run playbooks, and work on what waits for a person': ['agent', 'admin'],
  'answer, approve or deny a step that asks for them': roles,
  'read procedures and their history': roles,
  'write drafts, and try them': ['author', 'admin'],
  'review, and decide what serves': ['approver', 'admin'],
  'read executions': roles,
  'read figures': roles,
  'record and find experiences': ['agent', 'admin'],
  'prune experiences': ['author', 'approver', 'admin'],
  'read experiences': ['agent', 'admin', 'auditor'],
  'keys, settings, tools': ['admin'],
  'read the audit log, and have it sealed and signed': ['admin', 'auditor'],
  'verify the audit, and take evidence away': ['auditor'],
  "erase a customer's data": ['admin'],
  'learn lessons, and take them into runs': ['agent', 'admin'],
  'read lessons': ['agent', 'admin', 'auditor'],
  'write lessons by hand': ['admin'],
  'take lessons away': ['admin', 'auditor'],
  'read proposals': ['author', 'approver', 'admin', 'auditor'],
  'propose playbooks': ['agent', 'author', 'admin'],
  'propose improvements': ['agent', 'author', 'approver', 'admin'],
  'decide on proposals': ['author', 'approver', 'admin'],
} as const satisfies Record<string, readonly Role[]>

const actOf: Readonly<Record<keyof typeof operations, keyof typeof acts>> = {
  activateVersion: 'review, and decide what serves',
  answerStep: 'answer, approve or deny a step that asks for them',
  approveStep: 'answer, approve or deny a step that asks for them',
  denyStep: 'answer, approve or deny a step that asks for them',
  listWaitingSteps: 'read executions',
  assignEscalation: 'run playbooks, and work on what waits for a person',
  backtestVersion: 'write drafts, and try them',
  calibrateEmbeddings: 'keys, settings, tools',
  cancelBacktest: 'write drafts, and try them',
  cancelExecution: 'run playbooks, and work on what waits for a person',
  changePrincipal: 'keys, settings, tools',
  continueBacktest: 'write drafts, and try them',
  continueEmbeddingSwitch: 'keys, settings, tools',
  createKey: 'keys, settings, tools',
  createPrincipal: 'keys, settings, tools',
  createProcedure: 'write drafts, and try them',
  createVersion: 'write drafts, and try them',
  deleteDraft: 'write drafts, and try them',
  deprecateVersion: 'review, and decide what serves',
  diffVersions: 'read procedures and their history',
  editDraft: 'write drafts, and try them',
  eraseCustomer: "erase a customer's data",
  getApproval: 'read procedures and their history',
  getBacktest: 'read procedures and their history',
  getCalendar: 'read procedures and their history',
  whoAmI: 'read figures',
  getEmbeddings: 'read procedures and their history',
  getEscalation: 'read executions',
  getExecution: 'read executions',
  getInsights: 'read figures',
  getTrackRecord: 'read figures',
  recordExecution: 'run playbooks, and work on what waits for a person',
  getProcedure: 'read procedures and their history',
  getRetention: 'keys, settings, tools',
  getStats: 'read figures',
  holdExecutions: 'keys, settings, tools',
  listBacktests: 'read procedures and their history',
  listEscalations: 'read executions',
  listExecutions: 'read executions',
  listKeys: 'keys, settings, tools',
  listPrincipals: 'keys, settings, tools',
  listProcedures: 'read procedures and their history',
  listScenarios: 'read procedures and their history',
  pauseExecution: 'run playbooks, and work on what waits for a person',
  replayExecution: 'read executions',
  resolveEscalation: 'run playbooks, and work on what waits for a person',
  resolveTicket: 'run playbooks, and work on what waits for a person',
  resumeExecution: 'run playbooks, and work on what waits for a person',
  reviewVersion: 'review, and decide what serves',
  revokeKey: 'keys, settings, tools',
  searchProcedures: 'run playbooks, and work on what waits for a person',
  setCalendar: 'keys, settings, tools',
  setRetention: 'keys, settings, tools',
  setScenarios: 'write drafts, and try them',
  simulateVersion: 'write drafts, and try them',
  startExecution: 'run playbooks, and work on what waits for a person',
  switchEmbeddings: 'keys, settings, tools',
  bundleExecution: 'verify the audit, and take evidence away',
  exportAudit: 'verify the audit, and take evidence away',
  listAuditEvents: 'read the audit log, and have it sealed and signed',
  makeCheckpoint: 'read the audit log, and have it sealed and signed',
  sealExecutions: 'read the audit log, and have it sealed and signed',
  verifyAudit: 'verify the audit, and take evidence away',
  stopProcedure: 'review, and decide what serves',
  allowProcedure: 'review, and decide what serves',
  stopTool: 'review, and decide what serves',
  allowTool: 'review, and decide what serves',
  listTools: 'read procedures and their history',
  scheduleActivation: 'review, and decide what serves',
  rollBackProcedure: 'review, and decide what serves',
  setReviewBy: 'review, and decide what serves',
  cancelSchedule: 'review, and decide what serves',
  listSchedules: 'read procedures and their history',
  createWebhook: 'keys, settings, tools',
  listWebhooks: 'keys, settings, tools',
  changeWebhook: 'keys, settings, tools',
  deleteWebhook: 'keys, settings, tools',
  rotateWebhookSecret: 'keys, settings, tools',
  listWebhookDeliveries: 'keys, settings, tools',
  replayWebhookDelivery: 'keys, settings, tools',
  replayWebhook: 'keys, settings, tools',
  testWebhook: 'keys, settings, tools',
  recordExperience: 'record and find experiences',
  retrieveExperiences: 'record and find experiences',
  listExperiences: 'read experiences',
  getExperience: 'read experiences',
  pruneExperiences: 'prune experiences',
  listLessons: 'read lessons',
  getLessons: 'read lessons',
  showLessons: 'learn lessons, and take them into runs',
  curateLessons: 'learn lessons, and take them into runs',
  creditLessons: 'learn lessons, and take them into runs',
  addLesson: 'write lessons by hand',
  editLesson: 'write lessons by hand',
  removeLesson: 'write lessons by hand',
  importLessons: 'write lessons by hand',
  exportLessons: 'take lessons away',
  proposeProcedure: 'propose playbooks',
  proposeImprovement: 'propose improvements',
  listProposals: 'read proposals',
  getProposal: 'read proposals',
  acceptProposal: 'decide on proposals',
  dismissProposal: 'decide on proposals',
  listGaps: 'read proposals',
  proposeFromGap: 'decide on proposals',
}

/** The code of what it failed with, or `done`. */
async function outcome(run: () => Promise<unknown>): Promise<string> {
  try {
    await run()
    return 'done'
  } catch (error) {
    if (isServiceError(error)) return error.code
    throw error
  }
}

const definitionOf = (key: string, name = key) => ({
  ...{ key, name, description: 'For tests.', internal: true },
  steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
  completionConditions: [{ text: 'Known', when: 'steps.known.output.known' }],
})

describe.each(Object.entries(operations) as [keyof typeof operations, Operation][])(
  '%s',
  (name, operation) => {
    it.each(roles)(
      `is for ${acts[actOf[name]].join(', ')}: asked by one who is %s alone`,
      async (role) => {
        const mayCall: readonly Role[] = acts[actOf[name]]
        const caller = callerOf('someone', [role])

        const code = await outcome(() => operation.invoke(app, caller, { noSuchField: 1 }))

        expect(code).toBe(mayCall.includes(role) ? 'REQUEST_INVALID' : 'ROLE_MISSING')
      },
    )

    it('is for nobody without a role', async () => {
      const run = () => operation.invoke(app, callerOf('someone', []), { noSuchField: 1 })
      expect(await outcome(run)).toBe('ROLE_MISSING')
    })
  },
)

/** The acts of a version's life, each on a draft of its own that nobody has done anything to. */
const lifecycle: Readonly<
  Record<string, { may: readonly Role[]; run: (caller: Caller, key: string) => Promise<unknown> }>
> = {
  'makes a procedure': {
    may: acts['write drafts, and try them'],
    run: (caller, key) =>
      operations.createProcedure.invoke(app, caller, { definition: definitionOf(`${key}_NEW`) }),
  },
  'makes the next version': {
    may: acts['write drafts, and try them'],
    run: (caller, key) => operations.createVersion.invoke(app, caller, { procedureKey: key }),
  },
  'edits the draft': {
    may: acts['write drafts, and try them'],
    run: (caller, key) =>
      operations.editDraft.invoke(app, caller, {
        ...{ procedureKey: key, versionNumber: 1, revision: 1 },
        definition: definitionOf(key, 'Other'),
      }),
  },
  'changes its scenarios': {
    may: acts['write drafts, and try them'],
    run: (caller, key) =>
      operations.setScenarios.invoke(app, caller, {
        ...{ procedureKey: key, versionNumber: 1, revision: 1, scenarios: [] },
      }),
  },
  'deletes the draft': {
    may: acts['write drafts, and try them'],
    run: (caller, key) =>
      operations.deleteDraft.invoke(app, caller, { procedureKey: key, versionNumber: 1 }),
  },
  'approves it': { may: acts['review, and decide what serves'], run: reviewing('approve') },
  'declines it': { may: acts['review, and decide what serves'], run: reviewing('decline') },
  'comments on it': { may: acts['review, and decide what serves'], run: reviewing('comment') },
  'activates it, which another has approved': {
    may: acts['review, and decide what serves'],
    async run(caller, key) {
      await reviewing('approve')(callerOf('another', ['approver']), key)
      return activating(caller, key)
    },
  },
  'activates it, which nobody has approved': {
    may: acts['review, and decide what serves'],
    run: (caller, key) => activating(caller, key),
  },
  'takes it out of service': {
    may: acts['review, and decide what serves'],
    async run(caller, key) {
      await reviewing('approve')(callerOf('another', ['approver']), key)
      await activating(callerOf('another', ['approver']), key)
      return operations.deprecateVersion.invoke(app, caller, {
        procedureKey: key,
        versionNumber: 1,
      })
    },
  },
}

function reviewing(verdict: string) {
  return async (caller: Caller, procedureKey: string) => {
    const named = { procedureKey, versionNumber: 1 }
    const { digest } = await operations.getApproval.invoke(app, root, named)
    const comment = 'Because.'
    return operations.reviewVersion.invoke(app, caller, { ...named, digest, verdict, comment })
  }
}

function activating(caller: Caller, procedureKey: string): Promise<unknown> {
  return operations.activateVersion.invoke(app, caller, {
    ...{ procedureKey, versionNumber: 1, seenActive: null },
  })
}

/** The ways to be somebody: what an application vouches for, and a key. */
const doors: Readonly<Record<string, (id: string, role: Role) => Promise<Caller>>> = {
  'the library': async (id, role) => callerOf(id, [role]),
  async 'a key'(principalId, role) {
    await operations.createPrincipal.invoke(app, root, { principalId, roles: [role] })
    const { key } = await operations.createKey.invoke(app, root, { principalId })
    return { principal: await authenticate(app, key), origin: 'library' }
  },
}

const cells = Object.keys(doors).flatMap((door) =>
  Object.keys(lifecycle).flatMap((act) =>
    roles.flatMap((role) => [true, false].map((isAuthor) => ({ door, act, role, isAuthor }))),
  ),
)

describe('in the life of a version', () => {
  beforeAll(() => db.requireApprovals(1))
  let made = 0

  it.each(cells)(
    'by $door, who is $role and its author: $isAuthor $act',
    async ({ door, act, role, isAuthor }) => {
      made += 1
      const [key, id] = [`PLAYBOOK_${made}`, `person-${made}`]
      const writer = callerOf(isAuthor ? id : 'writer', ['author'])
      await operations.createProcedure.invoke(app, writer, { definition: definitionOf(key) })
      const caller = await doors[door]?.(id, role)
      const { may, run } = lifecycle[act] ?? {}
      if (caller === undefined || may === undefined || run === undefined) throw new Error(act)

      expect(await outcome(() => run(caller, key))).toBe(
        expected(act, may.includes(role), isAuthor),
      )
    },
  )
})

function expected(act: string, may: boolean, isAuthor: boolean): string {
  if (!may) return 'ROLE_MISSING'
  if (act === 'approves it' && isAuthor) return 'REVIEW_OWN_WORK'
  return act.endsWith('which nobody has approved') ? 'APPROVAL_MISSING' : 'done'
}
