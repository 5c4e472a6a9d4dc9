import { z } from 'zod'
import { speaksFor, whyNotAsked } from '../domain/asked.ts'
import { canonicalValue } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import { nameOf } from '../domain/execution.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import { roles } from '../domain/principal.ts'
import type { Problem } from '../domain/problem.ts'
import type { AskNode } from '../executor/plan.ts'
import { concludeAsk } from '../executor/waits.ts'
import { defineOperation } from './define.ts'
import { runOutput } from './execution-output.ts'
import { anyJson, waitRef } from './shapes.ts'
import { type Heard, speakerOf, speakTo, type Word, wordErrors } from './speak.ts'

/**
 * Answers a step that asks, and lets its run go on. A customer's own words may be given as `text`: words that do not have
 * the form that is asked for are kept beside the question, which stays open, and an agent can answer it then.
 */
export const answerStep = defineOperation({
  name: 'answerStep',
  summary: 'Answer a step that asks',
  input: z
    .strictObject({
      ...waitRef,
      answer: anyJson.optional().describe('The answer, in the form that the step asks for'),
      text: z.string().min(1).max(10_000).optional().describe('The answer in words'),
    })
    .refine(({ answer, text }) => (answer === undefined) !== (text === undefined), {
      message: 'give either answer or text',
      path: ['answer'],
    }),
  output: runOutput,
  errors: [...wordErrors, 'ANSWER_INVALID'],
  roles,
  run: (context, { answer, text, ...ref }) =>
    speakTo(context, ref, (heard) => {
      const { row, node, execution } = heard
      const { principal } = context.caller
      const at = { executionId: execution.id, step: nameOf(row) }
      if (node.kind !== 'ask') {
        throw new ServiceError('WAIT_DIFFERS', { ...at, needs: 'Approve or deny it.' })
      }
      const from = isJsonObject(row.input) ? String(row.input.from) : node.step.ask
      if (!speaksFor(from, principal)) {
        throw new ServiceError('NOT_ASKED', { ...at, why: whyNotAsked(from) })
      }
      const by = speakerOf(principal)
      const candidates = text === undefined ? [canonicalValue(answer)] : readings(text)
      const fit = candidates.find((one) => node.answer.problems(one).length === 0)
      if (fit !== undefined) {
        return { row: concludeAsk(row, { kind: 'answered', at: heard.at, by }, fit), goesOn: true }
      }
      const problems = problemsOf(node, candidates)
      if (text === undefined) throw new ServiceError('ANSWER_INVALID', { ...at, problems })
      return keepUnfit(heard, by, text, problems)
    }),
})

/** What words may stand for: themselves, a number, a yes or a no in no language but the schema's. */
function readings(text: string): readonly Json[] {
  const trimmed = text.trim()
  const number = /^-?\d{1,15}(\.\d{1,10})?$/.test(trimmed) ? [Number(trimmed)] : []
  return [trimmed, ...number]
}

function problemsOf(node: AskNode, candidates: readonly Json[]): readonly Problem[] {
  return node.answer.problems(candidates[0] ?? null).map((problem) => ({
    ...problem,
    path: problem.path === '' ? 'answer' : `answer.${problem.path}`,
  }))
}

function keepUnfit(
  { row, at }: Heard,
  by: ReturnType<typeof speakerOf>,
  text: string,
  problems: readonly Problem[],
): Word {
  const texts = problems.map(({ path, message }) => `${path}: ${message}`)
  const said = { kind: 'unfit', at, by, text, problems: texts } as const
  return { row: { ...row, exchange: [...(row.exchange ?? []), said] }, goesOn: false }
}
