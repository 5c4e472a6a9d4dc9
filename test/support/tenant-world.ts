import { z } from 'zod'
import type { AppContext } from '../../src/context.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolFailed } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { approveAndActivate } from './audited.ts'
import { callerOf } from './caller.ts'
import { plainEvidence, proposePlain } from './proposals.ts'

/** What a tenant's things are called: all that a caller could name. */
export interface Names {
  /** Of a procedure with an active version 1, runs, reviews, scenarios and a draft 2. */
  readonly procedureKey: string
  /** One that is stopped. */
  readonly stoppedKey: string
  /** What its pattern says. */
  readonly phrase: string
  /** Of version 1, which is active. */
  readonly versionId: string
  readonly executionId: string
  /** One that waits for an answer at `ask`, and one that waits for a yes at `agree`. */
  readonly askingId: string
  readonly agreeingId: string
  readonly escalationId: string
  readonly backtestId: string
  readonly scheduleId: string
  readonly principalId: string
  readonly keyId: string
  readonly customerId: string
  readonly ticketId: string
  readonly idempotencyKey: string
  readonly requester: string
  readonly webhookId: string
  readonly deliveryId: string
  readonly experienceId: string
  readonly proposalId: string
  readonly agentId: string
  readonly sessionId: string
  readonly taskTag: string
  readonly lessonId: string
  readonly showingId: string
}

/** A tool that fails, so that its runs escalate. */
export const worldTools = [
  defineTool({
    name: 'fail',
    description: 'Fails',
    effect: 'read',
    input: z.object({}),
    output: z.object({}),
    run: async () => {
      throw new ToolFailed('The desk is closed.')
    },
  }),
]

const known = { key: 'known', action: 'Know', compute: { account: 'input.account' } }

/**
 * Fills a tenant with something of every kind through the operations. `mark`, in capitals, stands in every text and name,
 * so that whatever is told of it can be seen.
 */
export async function buildWorld(app: AppContext, tenantId: string, mark: string): Promise<Names> {
  const caller = callerOf(`${mark}-root`, undefined, tenantId)
  const phrase = `${mark} account`
  const { webhookId } = await operations.createWebhook.invoke(app, caller, {
    url: `https://hooks.example.com/${mark}`,
  })
  const { deliveryId } = await operations.testWebhook.invoke(app, caller, { webhookId })
  const taskTag = `${mark}-support`
  const { lessonId } = await operations.addLesson.invoke(app, caller, {
    ...{ taskTag, kind: 'harmful', content: `Avoid: ${mark}` },
  })
  // To the one who asks in the test: nobody else is told of it.
  const zoe = callerOf('zoe', undefined, tenantId)
  const { showingId } = await operations.showLessons.invoke(app, zoe, { taskTag })
  const base = {
    description: `What ${mark} does with an account.`,
    issuePatterns: [phrase, `look at the ${mark} account`],
    input: { type: 'object', properties: { account: { type: 'string' } } },
  }
  const definitions = {
    RESOLVES: [known],
    FAILS: [{ key: 'fail', action: 'Fail', tool: 'fail', with: {} }],
    ASKS: [{ key: 'ask', action: 'Ask', ask: 'agent', message: mark, answer: { type: 'string' } }],
    AGREES: [{ key: 'agree', action: 'Agree', approval: 'admin', show: mark }],
    STOPPED: [known],
  }
  const scenarios = [{ name: mark, input: { account: mark }, expect: { end: 'resolved' } }]
  for (const [name, steps] of Object.entries(definitions)) {
    const key = `${mark}_${name}`
    const definition = { ...base, key, name: key, internal: name !== 'RESOLVES', steps }
    await operations.createProcedure.invoke(app, caller, {
      definition,
      ...(name === 'RESOLVES' && { scenarios }),
    })
    await approveAndActivate(app, caller, key, 1, null)
  }
  const start = async (name: keyof typeof definitions) => {
    const { execution } = await operations.startExecution.invoke(app, caller, {
      procedureKey: `${mark}_${name}`,
      ticket: { text: `Look at the account ${mark}.`, id: `${mark}-ticket` },
      input: { account: mark },
      customerId: `${mark}-customer`,
      ticketId: `${mark}-ticket`,
      onBehalfOf: `${mark}-cleo`,
      idempotencyKey: `${mark}-start-${name}`,
    })
    return execution.id
  }
  const executionId = await start('RESOLVES')
  await start('FAILS')
  const [askingId, agreeingId] = [await start('ASKS'), await start('AGREES')]

  const procedureKey = `${mark}_RESOLVES`
  await operations.createVersion.invoke(app, caller, { procedureKey })
  const draft = { procedureKey, versionNumber: 2 }
  const { backtestId } = await operations.backtestVersion.invoke(app, caller, draft)
  const { scheduleId } = await operations.scheduleActivation.invoke(app, caller, {
    ...{ ...draft, seenActive: 1, at: new Date(app.clock.now() + 86_400_000).toISOString() },
  })
  const principalId = `${mark}-ann`
  await operations.createPrincipal.invoke(app, caller, { principalId, roles: ['agent'] })
  const { keyId } = await operations.createKey.invoke(app, caller, { principalId, name: mark })
  await operations.stopProcedure.invoke(app, caller, {
    ...{ procedureKey: `${mark}_STOPPED`, reason: mark },
  })
  const calendar = { weekdays: [1, 2], holidays: ['2026-12-24'] }
  await operations.setCalendar.invoke(app, caller, { calendar })
  await operations.sealExecutions.invoke(app, caller, {})
  const [agentId, sessionId] = [`${mark}-agent`, `${mark}-session`]
  const { experience } = await operations.recordExperience.invoke(app, caller, {
    ...{ agentId, sessionId, customerId: `${mark}-customer`, tags: [mark] },
    situation: 'An account',
    actionSequence: [{ tool: 'look' }],
    ...{ outcome: mark, outcomeType: 'success', score: 0.9 },
  })
  const { proposalId } = await proposePlain(
    app,
    `${mark}_PROPOSED`,
    { evidence: plainEvidence({ experienceIds: [experience.id], situation: mark }) },
    caller,
  )
  const { version } = await operations.getProcedure.invoke(app, caller, { procedureKey })
  const { items } = await operations.listEscalations.invoke(app, caller, {})
  const [escalation] = items
  if (escalation === undefined) throw new Error('the run that fails has escalated')
  return {
    versionId: version.versionId,
    ...{ procedureKey, stoppedKey: `${mark}_STOPPED`, phrase, executionId, askingId, agreeingId },
    ...{ escalationId: escalation.id, backtestId, scheduleId, principalId, keyId },
    ...{ customerId: `${mark}-customer`, ticketId: `${mark}-ticket` },
    ...{ idempotencyKey: `${mark}-start-RESOLVES`, requester: `${mark}-root` },
    ...{ webhookId, deliveryId },
    ...{ experienceId: experience.id, agentId, sessionId, proposalId },
    ...{ taskTag, lessonId, showingId: showingId ?? '' },
  }
}

/**
 * Names of the same form that nothing ever had. In every order they stand right behind those that they are compared with,
 * so that a cursor made of one leads to the same place as one made of the other.
 */
export function neverNamed(names: Names, mark: string): Names {
  const behind = (name: string) =>
    name.includes(mark) ? name.replaceAll(mark, nextTo(mark)) : nextTo(name)
  return {
    procedureKey: behind(names.procedureKey),
    stoppedKey: behind(names.stoppedKey),
    phrase: behind(names.phrase),
    versionId: behind(names.versionId),
    executionId: behind(names.executionId),
    askingId: behind(names.askingId),
    agreeingId: behind(names.agreeingId),
    escalationId: behind(names.escalationId),
    backtestId: behind(names.backtestId),
    scheduleId: behind(names.scheduleId),
    principalId: behind(names.principalId),
    keyId: behind(names.keyId),
    customerId: behind(names.customerId),
    ticketId: behind(names.ticketId),
    idempotencyKey: behind(names.idempotencyKey),
    requester: behind(names.requester),
    webhookId: behind(names.webhookId),
    deliveryId: behind(names.deliveryId),
    experienceId: behind(names.experienceId),
    proposalId: behind(names.proposalId),
    agentId: behind(names.agentId),
    sessionId: behind(names.sessionId),
    taskTag: behind(names.taskTag),
    lessonId: behind(names.lessonId),
    showingId: behind(names.showingId),
  }
}

/** The next of the letters that ids and names are made of. */
function nextTo(name: string): string {
  const letters = name === name.toUpperCase() ? 'RSTU' : '0123456789abcdefghjkmnpqrstvwxyz'
  const next = letters[letters.indexOf(name.slice(-1)) + 1]
  // After the last letter the one before it is as near.
  return `${name.slice(0, -1)}${next ?? letters.at(-2)}`
}
