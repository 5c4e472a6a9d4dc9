import { recordExecution } from '../operations/record-execution.ts'
import { type Command, operationCommand } from './command.ts'

export const recordOutside: Command = operationCommand({
  path: 'executions record',
  operation: recordExecution,
  arguments: [
    { usage: '<KEY>', text: 'the key of a procedure' },
    { usage: '<NUMBER>', text: 'the version that it was run by' },
  ],
  options: [
    { usage: '--duration <MS>', text: 'how long it took, in milliseconds; it is asked for' },
    { usage: '--failed', text: 'it did not go well (default: it did)' },
    {
      usage: '--note <TEXT>',
      text: 'where it ran, say, to 200 characters; nothing about a customer',
    },
    {
      usage: '--idempotency-key <KEY>',
      text: 'the same key is recorded once, however often you repeat it',
    },
  ],
  notes: [
    'For runs that this service has not made: it keeps its own by itself. They stand apart in procedures record, and nothing',
    'goes by them.',
  ].join('\n'),
  input: (given) => ({
    procedureKey: given.text('KEY'),
    versionNumber: given.number('NUMBER'),
    success: !given.has('failed'),
    durationMs: given.number('duration'),
    note: given.find('note'),
    idempotencyKey: given.find('idempotency-key'),
  }),
  screen: ({ outsideExecutionId, isNew, procedureKey, versionNumber }) =>
    `${isNew ? 'Recorded' : 'Recorded before'}: ${outsideExecutionId}, a run of ${procedureKey} v${versionNumber}.`,
})
