import { z } from 'zod'
import { checkpointShape } from '../domain/evidence.ts'
import { makeCheckpoint as makeOne } from './checkpoints.ts'
import { defineOperation } from './define.ts'

/** Signs the end of the audit chain as it is now, stores that, and appends it to the checkpoint file. */
export const makeCheckpoint = defineOperation({
  name: 'makeCheckpoint',
  summary: 'Sign the end of the audit log as it is now',
  input: z.strictObject({}),
  output: z.object({
    checkpoint: checkpointShape.nullable().describe('Null for a log without events'),
  }),
  errors: ['CHECKPOINT_KEY_MISSING', 'FILE_UNWRITABLE'],
  roles: ['admin', 'auditor'],
  async run({ app, db }) {
    return { checkpoint: (await makeOne(app, db.tenantId)) ?? null }
  },
})
