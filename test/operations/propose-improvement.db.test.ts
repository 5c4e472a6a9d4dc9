import { beforeAll, describe, expect, it } from 'vitest'
import type { Id } from '../../src/domain/ids.ts'
import { learnOnce } from '../../src/operations/experience-chore.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { approveAndActivate } from '../support/audited.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp()
const root = callerOf('root')
const improve = (input: object, by = root) => operations.proposeImprovement.invoke(app, by, input)
const get = (proposalId: string) =>
  operations.getProposal.invoke(app, root, { proposalId: proposalId as Id<'proposal'> })
const key = 'STATE_PLAYBOOK'

/** It takes the transaction for granted, and escalates at the end of those that are in no good state. */
const definition = {
  ...{ key, name: 'State', description: 'Says how a transaction is.', internal: true },
  input: {
    type: 'object',
    required: ['transactionId'],
    properties: { transactionId: { type: 'string' } },
  },
  steps: [
    {
      ...{ key: 'look', action: 'Look it up', tool: 'check_transaction' },
      with: { transactionId: '{{input.transactionId}}' },
    },
    {
      ...{ key: 'sound', action: 'See whether all is well', otherwise: 'escalated' },
      require: [{ text: 'An order was made of it', when: 'steps.look.output.orderCreated' }],
    },
  ],
  completionConditions: [{ text: 'It was looked up', when: "steps.look.status == 'completed'" }],
}

beforeAll(async () => {
  await operations.createProcedure.invoke(app, root, { definition })
  await approveAndActivate(app, root, key, 1, null)
})

describe('without a model', () => {
  it('is refused where there is no run to learn from, with what is missing', async () => {
    await expect(improve({ procedureKey: key, feedback: 'Ask earlier' })).rejects.toMatchObject({
      ...{ code: 'PROPOSAL_NOT_LEARNED', kind: 'unprocessable' },
      details: {
        problems: [
          { path: 'feedback', message: expect.stringContaining('STEPWARDEN_PROPOSE_MODEL') },
          { path: 'versionNumber', message: expect.stringContaining('has no recorded run') },
        ],
      },
    })
  })

  it('the runs of the version teach it a rule, and the feedback stays with it', async () => {
    const ids = ['TXN-DEMO-001', 'TXN-DUP-002', 'TXN-REFUND-003', 'TXN-INCONSISTENT-004']
    for (const transactionId of [...ids, 'TXN-GATEWAY-005']) {
      await operations.startExecution.invoke(app, root, {
        ...{ procedureKey: key, input: { transactionId } },
      })
    }
    await operations.sealExecutions.invoke(app, root, {})
    await learnOnce(app)

    const proposed = await improve({ procedureKey: key, feedback: 'Hand these over at once' })

    expect(proposed).toMatchObject({
      ...{ isNew: true, procedureKey: key, madeWith: 'rules' },
      learnedFrom: { runs: 5, failures: 2 },
    })
    const proposal = await get(proposed.proposalId)
    expect(proposal).toMatchObject({
      ...{ kind: 'improvement', source: 'experiences' },
      evidence: { feedback: 'Hand these over at once', guards: [{ why: 'failures' }] },
      target: { base: 1, newest: 1, isCurrent: true },
    })
    const { steps, escalationRules } = Object(proposal.definition)
    expect(steps).toMatchObject(definition.steps.map(({ key: step }) => ({ key: step })))
    expect(escalationRules).toEqual([
      {
        text: 'The state of look is none of captured, captured_twice, refunded',
        when: "!(steps.look.output.state in ['captured', 'captured_twice', 'refunded'])",
      },
    ])
    expect(proposal.findings.filter(({ severity }) => severity === 'error')).toEqual([])

    const other = await improve({ procedureKey: key, feedback: 'Be kinder' })
    expect(other).toMatchObject({ isNew: false, proposalId: proposed.proposalId })
  })

  it('a procedure or version that is not there is refused', async () => {
    const nowhere = improve({ procedureKey: 'NOWHERE', feedback: 'x' })
    await expect(nowhere).rejects.toMatchObject({ code: 'PROCEDURE_NOT_FOUND' })
    const later = improve({ procedureKey: key, versionNumber: 9, feedback: 'x' })
    await expect(later).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' })
  })
})
