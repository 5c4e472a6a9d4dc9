import type { Definition } from '../domain/definition.ts'
import { type FilledInput, fillInput, openQuestions } from '../domain/fill-input.ts'
import { sensitiveValues } from '../domain/scalars.ts'
import { sensitiveInText } from '../domain/sensitive-text.ts'
import type { ReplyModel } from '../reply/model.ts'
import { readTicket } from '../reply/read-input.ts'
import type { InputRecord } from '../reply/reply.ts'
import type { RunRequest } from './run-version.ts'

interface CompletedInput {
  readonly filled: FilledInput
  /** Present when a model was asked. */
  readonly inputRecord?: InputRecord
}

/**
 * The input of a run: from the caller, from the context, from the ticket by the patterns of the schema; and only when
 * something is still missing then that may come from the ticket, from what a model reads there.
 */
export async function completeInput(
  model: ReplyModel | undefined,
  { input: schema = {} }: Pick<Definition, 'input'>,
  request: Pick<RunRequest, 'input' | 'context' | 'ticket'>,
): Promise<CompletedInput> {
  const { input, context, ticket } = request
  const given = { schema, input, context, text: ticket?.text }
  const filled = fillInput(given)
  const questions = openQuestions(schema, filled)
  if (model === undefined || ticket === undefined || questions.length === 0) return { filled }

  const { readings, failure } = await readTicket(model, questions, {
    text: ticket.text,
    withheld: [...sensitiveValues(filled.input, schema), ...sensitiveInText(schema, ticket.text)],
  })
  const completed = fillInput({ ...given, readings })
  const taken = Object.entries(completed.sources).flatMap(([name, source]) =>
    source === 'model' ? [name] : [],
  )
  const asked = questions.map(({ name }) => name)
  const refused = asked.filter((name) => readings.get(name)?.length && !taken.includes(name))
  const findings = [
    ...(failure === undefined ? [] : [failure]),
    ...refused.map(
      (name) => `What was read for ${name} does not stand in the ticket as its only value.`,
    ),
  ]
  return { filled: completed, inputRecord: { model: model.name, asked, taken, findings } }
}
