import { z } from 'zod'
import type { Escalation } from '../db/queries/escalations.ts'
import type { Ticket } from '../domain/execution.ts'
import { dueOutput, toDueOutput } from './due-output.ts'
import { instant, reason } from './shapes.ts'

export const escalationOutput = z
  .object({
    id: z.string(),
    executionId: z
      .string()
      .nullable()
      .describe('null for a triage item: a ticket that nothing runs for'),
    status: z.enum(['open', 'assigned', 'resolved']),
    reason,
    queue: z.string(),
    priority: z.enum(['low', 'normal', 'high', 'urgent']),
    assignee: z.string().nullable(),
    ticket: z.custom<Ticket | null>().meta({ type: ['object', 'null'] }),
    resolution: z.object({ text: z.string(), by: z.string() }).nullable(),
    ...dueOutput,
    openedAt: instant,
    assignedAt: instant.nullable(),
    resolvedAt: instant.nullable(),
    erasedAt: instant.nullable().describe('When what it is about was erased; null: it is there'),
  })
  .meta({ id: 'Escalation' })

/** `now`, in epoch milliseconds, tells what is late: the case goes on until a person has resolved it. */
export function toEscalationOutput(
  { dueAt, dueWarnAt, ...escalation }: Escalation,
  now: number,
): z.infer<typeof escalationOutput> {
  return {
    ...escalation,
    ...toDueOutput({ dueAt, dueWarnAt }, escalation.resolvedAt, now),
    openedAt: escalation.openedAt.toISOString(),
    assignedAt: escalation.assignedAt?.toISOString() ?? null,
    resolvedAt: escalation.resolvedAt?.toISOString() ?? null,
    erasedAt: escalation.erasedAt?.toISOString() ?? null,
  }
}
