import { z } from 'zod'
import {
  findOpenSchedule,
  findSchedule,
  insertSchedule,
} from '../db/queries/activation-schedules.ts'
import { keepProcedures } from '../db/queries/procedures.ts'
import { lockVersion } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { requireDraft } from '../domain/version.ts'
import { defineAdministration } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { scheduleOutput, toScheduleOutput } from './schedule-output.ts'
import { acknowledge, instant, procedureKey, versionNumber } from './shapes.ts'

/**
 * Lets a draft go live at a time to come: then, as whoever scheduled it, a worker does what `activateVersion` does now. It
 * is the draft as it is: when it was edited by then, or another version serves than was seen, or its activation is refused
 * for any other reason, nothing changes and the schedule says why.
 */
export const scheduleActivation = defineAdministration({
  name: 'scheduleActivation',
  summary: 'Make a draft the version that serves its procedure, at a time to come',
  input: z.strictObject({
    procedureKey,
    versionNumber,
    at: instant.describe('When, in RFC 3339'),
    seenActive: versionNumber
      .nullable()
      .describe('The number of the version that is to be active until then; null for none'),
    acknowledge,
  }),
  output: scheduleOutput,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'VERSION_NOT_DRAFT',
    'SCHEDULE_IN_PAST',
    'SCHEDULE_EXISTS',
  ],
  roles: ['approver', 'admin'],
  async change({ app, caller }, transaction, input) {
    const { principal } = caller
    // Kept as it is until the schedule is stored, in the order in which an activation locks.
    await keepProcedures(transaction, [input.procedureKey])
    const found = await findProcedureVersion(transaction, input.procedureKey, input.versionNumber)
    await lockVersion(transaction, found.id)
    const version = await findProcedureVersion(transaction, input.procedureKey, input.versionNumber)
    requireDraft(version.status, 'activate')
    const now = app.clock.now()
    const dueAt = new Date(input.at)
    if (dueAt.getTime() <= now) {
      const found = { at: dueAt.toISOString(), now: new Date(now).toISOString() }
      throw new ServiceError('SCHEDULE_IN_PAST', found)
    }
    const id = newId('schedule', now)
    const { procedureKey: key, versionNumber: number, revision } = version
    const isNew = await insertSchedule(transaction, {
      id,
      procedureId: version.procedureId,
      versionId: version.id,
      revision,
      seenActive: input.seenActive,
      acknowledged: input.acknowledge,
      dueAt,
      scheduledAt: new Date(now),
      by: principal,
    })
    if (!isNew) {
      const open = await findOpenSchedule(transaction, version.id)
      if (open === undefined) throw new TypeError('an open schedule stood in the way')
      throw new ServiceError('SCHEDULE_EXISTS', {
        procedureKey: key,
        versionNumber: number,
        scheduleId: open.id,
        at: open.dueAt.toISOString(),
      })
    }
    const schedule = await findSchedule(transaction, id)
    if (schedule === undefined) throw new TypeError('the schedule was inserted just now')
    return {
      output: toScheduleOutput(schedule),
      audit: [
        {
          action: 'activation.scheduled',
          entityKind: 'version',
          entityId: version.id,
          afterHash: version.definitionHash,
          details: {
            procedureKey: key,
            versionNumber: number,
            scheduleId: id,
            at: dueAt.toISOString(),
            revision,
            seenActive: input.seenActive,
          },
        },
      ],
    }
  },
})
