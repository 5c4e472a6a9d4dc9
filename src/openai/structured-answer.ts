import type OpenAI from 'openai'
import { z } from 'zod'
import { findValueProblems } from '../domain/canonical.ts'
import type { Json, JsonSchema } from '../domain/json.ts'
import { compileSchema } from '../domain/json-schema.ts'
import { ModelFailed } from './failure.ts'

/** What a model is asked, and the form that its answer must have. */
export interface Question {
  /** Letters, digits and underscores; tells the model what the answer is. */
  readonly name: string
  /** From the service alone: nothing of a customer's may stand here. */
  readonly instructions: string
  /** The data that the model works on. */
  readonly input: string
  /** In the subset that strict structured output takes: no optional members, no open objects. */
  readonly schema: JsonSchema
  /** Default 4,000. Where a long answer is asked for. */
  readonly maxOutputTokens?: number
}

/** Long enough for any answer that would be used, and a bound on what a model that runs wild costs. */
const defaultMaxOutputTokens = 4_000

// The SDK checks nothing of what comes back, and not every server that speaks this API is OpenAI's: some write null
// where OpenAI leaves a member out.
const responseShape = z.object({
  status: z.string().nullish(),
  output: z.array(
    z.object({
      content: z
        .array(z.object({ text: z.string().nullish(), refusal: z.string().nullish() }))
        .nullish(),
    }),
  ),
})

/**
 * Asks once through the Responses API, and answers JSON that fits the schema.
 *
 * @throws ModelFailed `refused`, `answer_invalid`; and what the SDK throws, which `callWithin` translates.
 */
export async function askForJson(
  client: OpenAI,
  model: string,
  { name, instructions, input, schema, maxOutputTokens = defaultMaxOutputTokens }: Question,
  signal: AbortSignal,
): Promise<Json> {
  const response = await client.responses.create(
    {
      model,
      instructions,
      input,
      text: { format: { type: 'json_schema', name, schema: { ...schema }, strict: true } },
      max_output_tokens: maxOutputTokens,
      // The provider has no reason to keep what customers write.
      store: false,
    },
    { signal },
  )
  const parsed = responseShape.safeParse(response)
  if (!parsed.success) throw invalid('is no response of the API')
  const { status, output } = parsed.data
  const contents = output.flatMap(({ content }) => content ?? [])
  // An empty refusal is none, as null is.
  if (contents.some(({ refusal }) => refusal)) {
    throw new ModelFailed('refused', 'The model refused to answer.')
  }
  if ((status ?? 'completed') !== 'completed') throw invalid('was cut off before its end')
  return readAnswer(contents.map(({ text }) => text ?? '').join(''), schema)
}

function readAnswer(text: string, schema: JsonSchema): Json {
  let answer: Json
  try {
    answer = JSON.parse(text)
  } catch {
    throw invalid('is broken JSON')
  }
  // Not every server holds a model to the schema.
  if (findValueProblems(answer).length > 0 || compileSchema(schema).problems(answer).length > 0) {
    throw invalid('does not have the form that was asked for')
  }
  return answer
}

function invalid(problem: string): ModelFailed {
  return new ModelFailed('answer_invalid', `The answer of the model ${problem}.`)
}
