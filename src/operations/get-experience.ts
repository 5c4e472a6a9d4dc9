import { z } from 'zod'
import { findExperience } from '../db/queries/experiences.ts'
import { ServiceError } from '../domain/errors.ts'
import { defineOperation } from './define.ts'
import { experienceOutput, toExperienceOutput } from './experience-output.ts'
import { noteRead } from './note-read.ts'
import { experienceId } from './shapes.ts'

/** One experience, whole. Looking at it counts as no use. */
export const getExperience = defineOperation({
  name: 'getExperience',
  summary: 'Show one experience',
  input: z.strictObject({ experienceId }),
  output: experienceOutput,
  errors: ['EXPERIENCE_NOT_FOUND'],
  roles: ['agent', 'admin', 'auditor'],
  async run(context, { experienceId: id }) {
    const experience = await findExperience(context.db.kysely, id)
    if (experience === undefined)
      throw new ServiceError('EXPERIENCE_NOT_FOUND', { experienceId: id })
    await noteRead(context, { action: 'experience.read', entityKind: 'experience', id })
    return toExperienceOutput(experience)
  },
})
