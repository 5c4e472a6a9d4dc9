import { z } from 'zod'
import { defineTool, ToolRefused } from '../../src/index.ts'

export const tools = [
  defineTool({
    name: 'check_balance',
    description: 'Tells what is left on an account.',
    effect: 'read',
    input: z.object({ accountId: z.string() }),
    output: z.object({ balance: z.number() }),
    async run() {
      return { balance: 0 }
    },
  }),
  defineTool({
    name: 'close_account',
    description: 'Closes an account that has no balance.',
    effect: 'write',
    idempotent: true,
    requires: ['check_balance'],
    timeout: '10s',
    input: z.object({ accountId: z.string() }),
    output: z.object({ closed: z.boolean() }),
    async run({ accountId }, { idempotencyKey, signal }) {
      if (accountId === '') throw new ToolRefused('no account was named')
      return { closed: !signal.aborted && idempotencyKey !== '' }
    },
  }),
]
