import type { AppContext } from '../../src/context.ts'
import { operations } from '../../src/operations/registry.ts'
import { lookAfterWebhooks, type WebhookTimes } from '../../src/operations/webhook-chore.ts'
import { callerOf } from './caller.ts'

/** A playbook that ends, waits or is handed over as its input says. */
const definition = {
  key: 'TOLD',
  name: 'Told',
  description: 'Ends as it is told to',
  issuePatterns: [],
  input: {
    type: 'object',
    properties: { how: { type: 'string' }, account: { type: 'string' } },
  },
  steps: [
    {
      key: 'which',
      action: 'Ask',
      when: "input.how == 'ask'",
      ask: 'agent',
      message: 'Which one, {{input.account}}?',
      answer: { type: 'string' },
    },
    {
      key: 'moment',
      action: 'Wait a moment',
      when: "input.how == 'wait'",
      wait: { for: '1h' },
    },
    {
      key: 'hand_over',
      action: 'Hand over',
      when: "input.how == 'escalate'",
      end: 'escalated',
      text: 'For {{input.account}}',
    },
    {
      key: 'refuse',
      action: 'Refuse',
      when: "input.how == 'decline'",
      end: 'declined',
      text: 'Not for {{input.account}}',
    },
    { key: 'note', action: 'Note', compute: { account: 'input.account' } },
  ],
}

export async function createTold(app: AppContext, caller = callerOf()): Promise<void> {
  await operations.createProcedure.invoke(app, caller, { definition })
  const activation = { procedureKey: 'TOLD', versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, activation)
}

/** Runs it, and answers the id of the run. */
export async function runTold(
  app: AppContext,
  how: 'end' | 'ask' | 'wait' | 'escalate' | 'decline',
  caller = callerOf(),
  more: object = {},
): Promise<string> {
  const { execution } = await operations.startExecution.invoke(app, caller, {
    procedureKey: 'TOLD',
    input: { how, account: 'A-Marked' },
    ...more,
  })
  return execution.id
}

/** Sends messages until it is disposed. */
export function startSending(app: AppContext, times: Partial<WebhookTimes> = {}): AsyncDisposable {
  const stopping = new AbortController()
  const sending = lookAfterWebhooks(app, stopping.signal, {
    pollMs: 20,
    claimMs: 30_000,
    ...times,
  })
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await sending
    },
  }
}
