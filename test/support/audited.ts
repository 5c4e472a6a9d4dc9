import { z } from 'zod'
import type { AppContext } from '../../src/context.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolFailed } from '../../src/domain/tool.ts'
import type { Caller } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from './caller.ts'

/** A tool with a sensitive output, and one that fails: their runs fill every covered table. */
export const auditedTools = [
  defineTool({
    name: 'look',
    description: 'Looks an account up',
    effect: 'read',
    input: z.object({ account: z.string(), pin: z.string().meta({ sensitive: true }) }),
    output: z.object({ token: z.string().meta({ sensitive: true }), state: z.string() }),
    run: async () => ({ token: 'TOKEN-1', state: 'open' }),
  }),
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

const input = {
  type: 'object',
  properties: { account: { type: 'string' }, pin: { type: 'string', sensitive: true } },
}
const base = { name: 'Audited', description: 'Looks at an account.', issuePatterns: ['look at it'] }
const look = {
  key: 'look',
  action: 'Look',
  tool: 'look',
  with: { account: '{{input.account}}', pin: '{{input.pin}}' },
}
const scenarios = [
  {
    name: 'open',
    input: { account: 'A-1', pin: '1234' },
    steps: { look: { output: { token: 'T', state: 'open' } } },
    expect: { end: 'resolved' },
  },
]

/** Two procedures: one resolves, one asks the customer, calls what fails, and escalates. */
export async function createAudited(app: AppContext, caller = callerOf()): Promise<void> {
  const resolves = { ...base, key: 'RESOLVES', input, steps: [look] }
  const escalates = {
    ...base,
    key: 'ESCALATES',
    input,
    steps: [
      look,
      {
        key: 'ask',
        action: 'Ask',
        ask: 'customer',
        message: 'Which day?',
        answer: { type: 'string' },
      },
      { key: 'fail', action: 'Fail', tool: 'fail', with: {} },
    ],
  }
  for (const definition of [resolves, escalates]) {
    await operations.createProcedure.invoke(app, caller, {
      definition,
      ...(definition.key === 'RESOLVES' && { scenarios }),
    })
    await approveAndActivate(app, caller, definition.key, 1, null)
  }
}

/** Has a version approved by somebody else, and puts it into service. */
export async function approveAndActivate(
  app: AppContext,
  caller: Caller,
  procedureKey: string,
  versionNumber: number,
  seenActive: number | null,
): Promise<void> {
  const version = { procedureKey, versionNumber }
  const { tenantId } = caller.principal
  const approver = callerOf('rob', ['approver'], tenantId)
  const { digest } = await operations.getApproval.invoke(app, approver, version)
  const review = { ...version, digest, verdict: 'approve', comment: 'As it is done by hand.' }
  await operations.reviewVersion.invoke(app, approver, review)
  await operations.activateVersion.invoke(app, caller, { ...version, seenActive })
}

/** Runs one of the procedures to its end, and answers the id. */
export async function runAudited(
  app: AppContext,
  procedureKey: 'RESOLVES' | 'ESCALATES',
  caller = callerOf(),
): Promise<string> {
  const { execution } = await operations.startExecution.invoke(app, caller, {
    procedureKey,
    ticket: { text: '=HYPERLINK("x")\nLook at A-1, "please".', id: 'TICKET-1' },
    input: { account: 'A-1', pin: 'PIN-QX77' },
    context: { shop: 'north' },
    customerId: 'C-1',
    ticketId: 'TICKET-1',
    onBehalfOf: 'cleo',
    idempotencyKey: `key ${procedureKey} ${Math.random()}`,
  })
  if (procedureKey === 'ESCALATES') {
    await operations.answerStep.invoke(app, caller, {
      executionId: execution.id,
      step: 'ask',
      answer: 'Monday',
    })
  }
  return execution.id
}
