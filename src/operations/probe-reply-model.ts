import { askInTime, failureText, type ReplyModel } from '../reply/model.ts'

const probeWithinMs = 5_000

const question = {
  name: 'probe',
  instructions: 'Answer with {"ok": true}.',
  input: '{}',
  schema: {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
    additionalProperties: false,
  },
}

/**
 * Asks a reply model the least that can be asked, for five seconds at most. Answers why it gave nothing, in words that
 * hold no key; undefined when it answered.
 */
export async function probeReplyModel(model: ReplyModel): Promise<string | undefined> {
  try {
    await askInTime(model, question, probeWithinMs)
    return undefined
  } catch (error) {
    // Whatever it is, it is what was asked for.
    return failureText(error)
  }
}
