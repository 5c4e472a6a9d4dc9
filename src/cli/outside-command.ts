import { getProcedure } from '../operations/get-procedure.ts'
import { recordExecution } from '../operations/record-execution.ts'
import type { Command } from './command.ts'

export const recordOutside: Command = {
  path: 'executions record',
  summary: recordExecution.summary,
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
  async run(shell, given) {
    const { version } = await shell.call(getProcedure, {
      procedureKey: given.text('KEY'),
      versionNumber: given.number('NUMBER'),
    })
    const output = await shell.call(recordExecution, {
      versionId: version.versionId,
      success: !given.has('failed'),
      durationMs: given.number('duration'),
      note: given.find('note'),
      idempotencyKey: given.find('idempotency-key'),
    })
    const { outsideExecutionId, procedureKey, versionNumber, isNew } = output
    const what = isNew ? 'Recorded' : 'Recorded before'
    return {
      output,
      screen: `${what}: ${outsideExecutionId}, a run of ${procedureKey} v${versionNumber}.`,
    }
  },
}
