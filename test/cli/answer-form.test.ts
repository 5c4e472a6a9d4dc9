import { expect, test } from 'vitest'
import { answerOption } from '../../src/cli/answer-form.ts'
import type { JsonSchema } from '../../src/domain/json.ts'

const amount = { type: 'number' }

test.each<[JsonSchema | undefined, string]>([
  [undefined, '--text "…"'],
  [{}, '--text "…"'],
  [{ type: 'string', pattern: '^[0-9]{4}$' }, '--text "…"'],
  [{ enum: ['yes', 'no'] }, '--text "…"'],
  [{ type: 'integer' }, '--text "…"'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, '--text "…"'],
  [{ type: 'boolean' }, "--answer '…'"],
  [{ type: 'object', properties: { amount }, required: ['amount'] }, `--answer '{"amount": …}'`],
  [
    {
      type: 'object',
      properties: { who: { type: 'string' }, "it's": amount, parts: { type: 'array' } },
    },
    `--answer '{"who": "…", "it'\\''s": …, "parts": […]}'`,
  ],
  [{ type: 'array', items: { type: 'string' } }, `--answer '["…"]'`],
])('an answer of the form %j is given as %s', (schema, option) => {
  expect(answerOption(schema)).toBe(option)
})
