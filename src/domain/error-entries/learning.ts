import { define } from './entry.ts'

/** What agents learn from. */
export const learning = {
  EXPERIENCE_NOT_FOUND: define<{ experienceId: string }>(
    'not_found',
    (d) =>
      `There is no experience ${d.experienceId}. 'stepwarden experiences list' shows which there are; one that was pruned or erased is gone.`,
  ),
}
