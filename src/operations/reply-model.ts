import type { AppContext } from '../context.ts'
import type { ReplyModel } from '../reply/model.ts'
import { inSpan } from '../telemetry/span.ts'

/** The reply model for a piece of work: what it fails of is told with the ids of that, and each call is a span of it. */
export function modelOf(app: AppContext): ReplyModel | undefined {
  const { replyModel, log } = app
  if (replyModel === undefined) return undefined
  const { name, timeouts } = replyModel
  return {
    name,
    timeouts,
    answer: (question, signal) =>
      inSpan(
        app,
        `chat ${name}`,
        () => ({
          kind: 'client',
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': name,
            'stepwarden.model.asked': question.name,
          },
        }),
        () => replyModel.answer(question, signal, log),
      ),
  }
}
