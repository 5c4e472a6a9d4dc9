import { expect, test } from 'vitest'
import { z } from 'zod'
import { requestProblems, requestWording } from '../../src/domain/request-problems.ts'

const schema = z.strictObject({
  ticket: z.strictObject({ text: z.string().regex(/\S/, 'must not be empty') }),
  limit: z.int().min(1).max(200).optional(),
  seenActive: z.int().nullable(),
  mode: z.enum(['automatic', 'guided']).optional(),
  name: z.string().max(5).optional(),
  at: z.iso.datetime().optional(),
})

function problemsOf(value: unknown): readonly string[] {
  const { error } = schema.safeParse(value, { error: requestWording })
  return error === undefined
    ? []
    : requestProblems(schema, error).map(({ path, message }) => `${path}: ${message}`)
}

test.each([
  [
    {},
    ['ticket: is missing: expected an object', 'seenActive: is missing: expected a number or null'],
  ],
  [{ ticket: 'x', seenActive: null }, ['ticket: is a text, expected an object']],
  [{ ticket: { text: ' ' }, seenActive: null }, ['ticket.text: must not be empty']],
  [
    { ticket: { text: 'x', txt: 1 }, seenActive: null, mod: 'guided', qqq: 1 },
    [
      "ticket.txt: is not a known field. Did you mean 'text'?",
      "mod: is not a known field. Did you mean 'mode'?",
      'qqq: is not a known field. Remove it.',
    ],
  ],
  [
    {
      ticket: { text: 'x' },
      seenActive: 'one',
      limit: 0,
      mode: 'guidet',
      name: 'secret',
      at: '2026',
    },
    [
      'limit: is 0, expected at least 1',
      'seenActive: is a text, expected a number or null',
      "mode: found 'guidet', expected one of automatic or guided. Did you mean 'guided'?",
      'name: has 6 characters, expected at most 5',
      'at: is no time in UTC: expected one such as 2026-05-03T10:00:00Z',
    ],
  ],
])('says of %j what was found, and what was expected', (value, told) => {
  expect(problemsOf(value)).toEqual(told)
})
