import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Client } from '../../src/library.ts'
import type { Caller } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { type AgentRun, decide, learn, resolveNext, work } from '../examples/learning.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app, db } = await openTestApp()
await db.requireApprovals(1)

const file = new URL('../../docs/examples/double-charges.yaml', import.meta.url)
const runs: readonly AgentRun[] = parse(readFileSync(file, 'utf8'))

function clientOf(caller: Caller): Client {
  const entries = Object.entries(operations).map(
    ([name, operation]) => [name, (input: never) => operation.invoke(app, caller, input)] as const,
  )
  return Object.fromEntries(entries) as unknown as Client
}

const ai = { ...callerOf('bot', ['agent']).principal, kind: 'ai' } as const
const agent = clientOf({ ...callerOf(), principal: ai })
const author = clientOf(callerOf('bob', ['author', 'agent']))
const approver = clientOf(callerOf('eve', ['approver']))

const page = readFileSync(new URL('../../docs/learning.md', import.meta.url), 'utf8')

/** What the page shows after a heading. */
function shownUnder(heading: string): string {
  const block = new RegExp(`## ${heading}[\\s\\S]*?\`\`\`text\\n([\\s\\S]*?)\`\`\``).exec(page)
  return block?.[1]?.trimEnd() ?? `nothing under ${heading}`
}

it('goes from twelve runs to a playbook that resolves the thirteenth ticket, as docs/learning.md says', async () => {
  expect(runs).toHaveLength(12)
  expect(runs.filter(({ success }) => !success)).toHaveLength(2)

  await work(agent, runs)
  const { matches, lessons, proposal } = await learn(agent)

  // What worked comes first, whatever was asked of the outcome.
  const outcomes = matches.map(({ experience }) => experience.outcomeType)
  expect(outcomes.slice(-2)).toEqual(['failure', 'failure'])
  expect(new Set(outcomes.slice(0, -2))).toEqual(new Set(['success']))
  expect(lessons.trim()).toBe(shownUnder('What the agent learns'))
  expect(proposal).toMatchObject({
    status: 'open',
    madeWith: 'rules',
    learnedFrom: { successes: 10, failures: 2 },
    agreement: { heldOut: 6, agreed: 6 },
    parameters: ['transactionId'],
  })
  expect(proposal.guards.join('\n')).toBe(shownUnder('What it proposes'))
  // Nothing of it serves yet, and nobody may activate it unseen.
  const text = 'I was charged twice for TXN-DUP-002'
  expect((await agent.resolveTicket({ ticket: { text } })).execution).toBeNull()
  await expect(agent.acceptProposal({ proposalId: proposal.proposalId })).rejects.toMatchObject({
    code: 'ROLE_MISSING',
  })

  const active = await decide(author, approver, proposal.proposalId)
  const { execution, proposalId, evidence } = await resolveNext(agent, author, text)

  expect(active).toMatchObject({ procedureKey: 'DOUBLE_CHARGE', status: 'active' })
  expect(execution).toMatchObject({
    outcome: 'resolved',
    procedureKey: 'DOUBLE_CHARGE',
    inputSources: { transactionId: 'text' },
    result: { message: 'Refund of 29.00 USD for TXN-DUP-002: submitted.' },
  })
  expect(proposalId).toBe(proposal.proposalId)
  expect(evidence.experienceIds).toHaveLength(12)
})
