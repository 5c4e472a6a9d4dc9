import { callWithin } from '../openai/call-within.ts'
import { createOpenAiClient, type OpenAiConnection } from '../openai/client.ts'
import { askForJson } from '../openai/structured-answer.ts'
import type { ReplyModel, ReplyModelTimeouts } from './model.ts'

/** A customer waits for the input, and an agent for the reply. */
const defaultTimeouts: ReplyModelTimeouts = { replyMs: 15_000, inputMs: 5_000 }

/** The model of that name at OpenAI, or at a server that speaks its API. */
export function createOpenAiReplyModel(
  connection: OpenAiConnection,
  name: string,
  timeouts: ReplyModelTimeouts = defaultTimeouts,
): ReplyModel {
  const client = createOpenAiClient(connection)
  return {
    name,
    timeouts,
    answer: (question, signal) =>
      callWithin(
        { timeoutMs: timeouts.replyMs },
        (attempt) => askForJson(client, name, question, attempt),
        signal,
      ),
  }
}
