import { z } from 'zod'
import { maxDurationDays } from '../domain/duration.ts'
import {
  type Calendar,
  findInstant,
  maxWorkdayStretch,
  weekday,
} from '../domain/expression/time.ts'

const weekdayNumber = z
  .int('must be a whole number from 1 (Monday) to 7 (Sunday)')
  .min(1, 'must be from 1 (Monday) to 7 (Sunday)')
  .max(7, 'must be from 1 (Monday) to 7 (Sunday)')

const holiday = z
  .string('must be a date in quotes or without a time, such as 2026-12-25')
  .refine((text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && findInstant(text) !== undefined, {
    message: 'must be a date that there is, such as 2026-12-25',
  })

/** Which days a tenant works. All dates are in UTC. */
export const calendarShape = z
  .strictObject({
    weekdays: z
      .array(weekdayNumber)
      .min(1, 'must have at least one working day')
      .refine(isWithoutRepeat, { message: 'must not name a day twice' })
      .readonly()
      .describe('The days of the week that are worked, 1 (Monday) to 7 (Sunday)'),
    holidays: z
      .array(holiday)
      .max(5_000, 'must have at most 5,000 dates')
      .refine(isWithoutRepeat, { message: 'must not name a date twice' })
      .readonly()
      .default([])
      .describe('Dates that are not worked, such as 2026-12-25'),
  })
  .refine(hasWorkdaysEnough, {
    message: `has so many holidays that ${maxDurationDays} working days may lie more than ten years ahead; leave out those that are past`,
    path: ['holidays'],
  })

/** The same days in the order in which they are stored. */
export function inOrder({ weekdays, holidays }: Calendar): Calendar {
  return { weekdays: [...weekdays].sort((a, b) => a - b), holidays: [...holidays].sort() }
}

function isWithoutRepeat(items: readonly (string | number)[]): boolean {
  return new Set(items).size === items.length
}

/** The longest duration of a definition can be counted from any day, however the holidays lie. */
function hasWorkdaysEnough({ weekdays, holidays }: Calendar): boolean {
  const weeks = Math.floor(maxWorkdayStretch / 7)
  const off = holidays.filter((date) => weekdays.includes(weekday(findInstant(date) ?? 0)))
  return weeks * weekdays.length - off.length >= maxDurationDays
}
