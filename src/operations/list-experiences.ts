import { z } from 'zod'
import { listExperiences as listRows } from '../db/queries/experiences.ts'
import { experienceLimits } from '../learning/experience.ts'
import { defineOperation } from './define.ts'
import {
  agentId,
  experienceOutput,
  outcomeType,
  sessionId,
  toExperienceOutput,
} from './experience-output.ts'
import { noteRead } from './note-read.ts'
import { executionId, nextCursor, pageById } from './shapes.ts'

/** A page of experiences, newest first: of all agents, and with those that only repeat another. */
export const listExperiences = defineOperation({
  name: 'listExperiences',
  summary: 'List what agents and runs have experienced, newest first',
  input: z.strictObject({
    ...pageById('experience'),
    agentId: agentId.optional(),
    outcomeType: outcomeType.optional(),
    tag: z.string().min(1).max(experienceLimits.tag).optional(),
    sessionId: sessionId.optional(),
    executionId: executionId.optional(),
  }),
  output: z.object({ items: z.array(experienceOutput), nextCursor }),
  errors: [],
  roles: ['agent', 'admin', 'auditor'],
  async run(context, { limit, cursor, agentId: agent, tag, ...filters }) {
    const rows = await listRows(context.db.kysely, {
      ...filters,
      ...(agent !== undefined && { agentIds: [agent] }),
      ...(tag !== undefined && { tags: [tag] }),
      limit: limit + 1,
      before: cursor,
    })
    const items = rows.slice(0, limit)
    await noteRead(context, { action: 'experiences.listed', entityKind: 'tenant' })
    return {
      items: items.map(toExperienceOutput),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
