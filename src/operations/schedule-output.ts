import { z } from 'zod'
import type { ActivationSchedule } from '../db/queries/activation-schedules.ts'
import { instant } from './shapes.ts'

export const scheduleStatus = z.enum(['open', 'activated', 'refused', 'cancelled'])

/** An activation that was scheduled, and what came of it. */
export const scheduleOutput = z.object({
  scheduleId: z.string(),
  procedureKey: z.string(),
  versionNumber: z.int(),
  revision: z.int().describe('Of the draft that was seen; another one does not go live'),
  seenActive: z.int().nullable().describe('The version that is to serve until then; null for none'),
  acknowledged: z.array(z.string()).describe('Ids of the routing findings that were accepted'),
  at: instant,
  scheduledBy: z.string(),
  scheduledAt: instant,
  status: scheduleStatus,
  problem: z
    .object({ code: z.string(), message: z.string() })
    .nullable()
    .describe('Why it was refused when it was due'),
  cancelledBy: z.string().nullable(),
  endedAt: instant.nullable(),
})

export function toScheduleOutput(schedule: ActivationSchedule): z.infer<typeof scheduleOutput> {
  return {
    scheduleId: schedule.id,
    procedureKey: schedule.procedureKey,
    versionNumber: schedule.versionNumber,
    revision: schedule.revision,
    seenActive: schedule.seenActive,
    acknowledged: [...schedule.acknowledged],
    at: schedule.dueAt.toISOString(),
    scheduledBy: schedule.scheduledBy.id,
    scheduledAt: schedule.scheduledAt.toISOString(),
    status: schedule.status,
    problem: schedule.problem,
    cancelledBy: schedule.cancelledBy?.id ?? null,
    endedAt: schedule.endedAt?.toISOString() ?? null,
  }
}
