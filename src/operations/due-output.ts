import { z } from 'zod'
import { instant } from './shapes.ts'

/** When a case is to be done, as every operation answers it. */
export const dueOutput = {
  dueAt: instant
    .nullable()
    .describe('When the case is to be done, waiting included; null: its playbook does not say'),
  dueSoon: z.boolean().describe('It is time to hurry: the playbook warns, and it is not overdue'),
  overdue: z
    .boolean()
    .describe('It was not done in time, or is not done yet and the time has passed'),
}

export const overdueFilter = z
  .boolean()
  .default(false)
  .describe('Only cases that were not done in time, or are not done yet and late')

/** `doneAt`: when the case was done; null while it goes on. `now`: epoch milliseconds. */
export function toDueOutput(
  { dueAt, dueWarnAt }: { readonly dueAt: Date | null; readonly dueWarnAt: Date | null },
  doneAt: Date | null,
  now: number,
) {
  const at = doneAt?.getTime() ?? now
  const overdue = dueAt !== null && at > dueAt.getTime()
  return {
    dueAt: dueAt?.toISOString() ?? null,
    dueSoon: doneAt === null && !overdue && dueWarnAt !== null && now >= dueWarnAt.getTime(),
    overdue,
  }
}
