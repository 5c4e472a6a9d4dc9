import type { StoppedBy } from '../kill-switch.ts'
import type { Problem } from '../problem.ts'
import { allowText, define, problemLines, stoppedText } from './entry.ts'

/** Runs, and what waits for a person. */
export const executions = {
  EXECUTION_NOT_FOUND: define<{ executionId: string }>(
    'not_found',
    (d) => `There is no execution ${d.executionId}. List them to see which there are.`,
  ),
  EXECUTION_ENDED: define<{ executionId: string; status: string }>(
    'conflict',
    (d) =>
      `Execution ${d.executionId} has ended as ${d.status}; nothing can be changed about it any more.`,
  ),
  EXECUTION_NOT_PAUSED: define<{ executionId: string; status: string }>(
    'conflict',
    (d) =>
      `Execution ${d.executionId} is ${d.status}, and only one that is paused can be resumed. Nothing was changed: show it to see what it waits for.`,
  ),
  EXECUTION_HELD: define<{ executionId: string; stopped: StoppedBy }>(
    'conflict',
    ({ executionId, stopped }) =>
      `Execution ${executionId} does not go on while ${stopped.kind} ${stopped.name} is stopped: it ${stoppedText(stopped)} Nothing was changed; ${allowText(stopped)} when it may run again.`,
  ),
  EXECUTION_BUSY: define<{ executionId: string }>(
    'conflict',
    (d) => `A worker has execution ${d.executionId} just now. Try again in a moment.`,
    { retryable: true },
  ),
  WAIT_NOT_FOUND: define<{ executionId: string; step: string; waiting: readonly string[] }>(
    'not_found',
    (d) =>
      `Step '${d.step}' of ${d.executionId} does not wait for anybody. ${d.waiting.length === 0 ? 'Nothing of it does.' : `What waits: ${d.waiting.join(', ')}.`}`,
  ),
  WAIT_CLOSED: define<{ executionId: string; step: string; status: string }>(
    'conflict',
    (d) =>
      `Step '${d.step}' of ${d.executionId} waits no more: it is ${d.status}. Nothing was changed.`,
  ),
  NOT_ASKED: define<{ executionId: string; step: string; why: string }>(
    'forbidden',
    (d) => `You cannot speak at step '${d.step}' of ${d.executionId}: ${d.why}.`,
  ),
  ANSWER_INVALID: define<{ executionId: string; step: string; problems: readonly Problem[] }>(
    'invalid',
    (d) =>
      `The answer to step '${d.step}' of ${d.executionId} does not have the form that is asked for:${problemLines(d.problems)}`,
  ),
  WAIT_DIFFERS: define<{ executionId: string; step: string; needs: string }>(
    'invalid',
    (d) => `Step '${d.step}' of ${d.executionId} is not spoken to like this. ${d.needs}`,
  ),
  APPROVAL_STALE: define<{ executionId: string; step: string; showHash: string }>(
    'stale',
    (d) =>
      `What step '${d.step}' of ${d.executionId} shows has the hash ${d.showHash}, and your yes names another. Look at it again.`,
  ),
  IDEMPOTENCY_KEY_REUSED: define<{ idempotencyKey: string; executionId: string }>(
    'unprocessable',
    (d) =>
      `The idempotency key '${d.idempotencyKey}' belongs to another request, which became ${d.executionId}. Use a new key for a new request.`,
  ),
  ESCALATION_NOT_FOUND: define<{ escalationId: string }>(
    'not_found',
    (d) => `There is no escalation ${d.escalationId}. List them to see which there are.`,
  ),
  ESCALATION_RESOLVED: define<{ escalationId: string }>(
    'conflict',
    (d) => `Escalation ${d.escalationId} is resolved already, and stays as it was resolved.`,
  ),
  LEASE_LOST: define<{ executionId: string; fence: number }>(
    'conflict',
    (d) =>
      `Execution ${d.executionId} was taken over by another worker, or has ended; nothing was written under fence ${d.fence}.`,
  ),
  SENSITIVE_VALUE_LOST: define<{ executionId: string }>(
    'internal',
    (d) =>
      `A sensitive value of ${d.executionId} is gone, or is not the one that its record names. The run can neither go on nor be replayed; restore the table sensitive_values from a backup.`,
  ),
}
