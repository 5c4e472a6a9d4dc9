import { instantText } from './value-line.ts'

/** When a case is to be done, and whether that presses; empty where nothing says when. */
export function dueText({
  dueAt,
  dueSoon,
  overdue,
}: {
  readonly dueAt: string | null
  readonly dueSoon: boolean
  readonly overdue: boolean
}): string {
  const at = instantText(dueAt)
  if (at === null) return ''
  return overdue ? `${at} overdue` : dueSoon ? `${at} soon` : at
}

export const overdueOption = {
  usage: '--overdue',
  text: 'only cases that were not done in time, or are late already',
}
