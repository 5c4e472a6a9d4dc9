import { z } from 'zod'
import { lockSchedule, updateScheduleEnd } from '../db/queries/activation-schedules.ts'
import { ServiceError } from '../domain/errors.ts'
import { defineAdministration } from './define.ts'
import { scheduleOutput, toScheduleOutput } from './schedule-output.ts'
import { scheduleId } from './shapes.ts'

/** Takes back an activation that is still to come. */
export const cancelSchedule = defineAdministration({
  name: 'cancelSchedule',
  summary: 'Take back an activation that is still to come',
  input: z.strictObject({ scheduleId }),
  output: scheduleOutput,
  errors: ['SCHEDULE_NOT_FOUND', 'SCHEDULE_ENDED'],
  roles: ['approver', 'admin'],
  async change({ app, caller }, transaction, { scheduleId: id }) {
    const schedule = await lockSchedule(transaction, id)
    if (schedule === undefined) throw new ServiceError('SCHEDULE_NOT_FOUND', { scheduleId: id })
    const { status, procedureKey, versionNumber } = schedule
    if (status !== 'open') throw new ServiceError('SCHEDULE_ENDED', { scheduleId: id, status })
    const { principal } = caller
    const endedAt = new Date(app.clock.now())
    await updateScheduleEnd(transaction, id, { status: 'cancelled', by: principal }, endedAt)
    const cancelled = { status: 'cancelled', cancelledBy: principal, endedAt } as const
    return {
      output: toScheduleOutput({ ...schedule, ...cancelled }),
      audit: [
        {
          action: 'activation.cancelled',
          entityKind: 'version',
          entityId: schedule.versionId,
          details: { procedureKey, versionNumber, scheduleId: id },
        },
      ],
    }
  },
})
