import type { z } from 'zod'
import type { recordExperience } from '../operations/record-experience.ts'
import type { retrieveExperiences } from '../operations/retrieve-experiences.ts'

/** The block for a prompt, or that there is nothing. */
export function tellExperiences({ context }: z.infer<typeof retrieveExperiences.output>): string {
  return context === '' ? 'Nothing like it was met before.' : context.trim()
}

export function tellRecorded({
  experience,
  isNew,
}: z.infer<typeof recordExperience.output>): string {
  return isNew ? `Recorded as ${experience.id}.` : `${experience.id} says the same; it was counted.`
}
