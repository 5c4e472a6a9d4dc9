import type { AppContext } from '../context.ts'
import type { Id } from '../domain/ids.ts'
import type { ReplyModel } from '../reply/model.ts'
import { inSpan } from '../telemetry/span.ts'

/** The reply model for a piece of work: what it fails of is told with the ids of that, and each call is a span of it. */
export function modelOf(app: AppContext, executionId?: Id<'execution'>): ReplyModel | undefined {
  const { replyModel } = app
  if (replyModel === undefined) return undefined
  const log = executionId === undefined ? app.log : app.log.child({ executionId })
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
