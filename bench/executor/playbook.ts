import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import type { Tool } from '../../src/domain/tool.ts'
import { inputOf, lookUpAccount, stepCount } from './workload.ts'

/** What executions are made of: a procedure whose steps call one tool, and the input of each execution. */
export interface Playbook {
  readonly tool: Tool
  readonly definition: JsonObject & { readonly key: string }
  readonly inputOf: (index: number) => JsonObject
}

const accountTool = defineTool({
  name: 'look_up_account',
  description: 'Looks one part of an account up.',
  effect: 'read',
  input: z.object({ part: z.number(), customerId: z.string() }),
  output: z.object({
    part: z.number(),
    customerId: z.string(),
    found: z.boolean(),
    standing: z.enum(['good', 'blocked']),
    note: z.string(),
    source: z.string(),
  }),
  run: async ({ part, customerId }) => {
    const account = await lookUpAccount(part, customerId)
    return { ...account, standing: 'good' as const }
  },
})

const definition = {
  key: 'ACCOUNT_STANDING_PLAYBOOK',
  name: 'Account Standing',
  description: 'Looks six parts of an account up and says how it stands.',
  category: 'accounts',
  issuePatterns: ['is my account blocked', 'account standing', 'check my account', 'am I locked'],
  input: {
    type: 'object',
    required: ['customerId'],
    properties: {
      customerId: { type: 'string', pattern: '^customer-[0-9]+$', description: 'Customer id' },
      ticket: { type: 'integer', description: 'Ticket number' },
      topic: { type: 'string', description: 'What the ticket is about' },
    },
  },
  preconditions: [{ text: 'The customer is known', when: 'has(input.customerId)' }],
  steps: Array.from({ length: stepCount }, (_, index) => ({
    key: `look_up_${index + 1}`,
    action: `Look part ${index + 1} up`,
    tool: accountTool.contract.name,
    with: { part: index + 1, customerId: '{{input.customerId}}' },
  })),
  completionConditions: [
    { text: 'The last part was found', when: `steps.look_up_${stepCount}.output.found` },
  ],
  escalationRules: [
    { text: 'The account is blocked', when: "steps.look_up_1.output.standing == 'blocked'" },
  ],
}

/** A playbook as a desk would write it: checked input, one condition of each sort, six reads. */
export const accountStanding: Playbook = { tool: accountTool, definition, inputOf }
