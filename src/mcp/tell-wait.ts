import { isJsonObject, type Json, type JsonSchema } from '../domain/json.ts'
import { schemaText } from '../domain/schema-text.ts'

/** A step that waits for somebody's word, as it stands in a run and in the list of what waits. */
export interface TellableWait {
  readonly executionId: string
  readonly step: string
  readonly iteration: string
  /** ask, approval, or tool: a write of a guided run. */
  readonly kind: string
  /** From whom and what; of a write, what would be sent. */
  readonly asks: Json
  readonly tool: string | null
  readonly answer: JsonSchema | null
  /** Why the caller's word does not count, where that is known. */
  readonly notYou: string | undefined
  /** What was said while it waited. */
  readonly exchange: readonly object[]
}

/** What is asked, and with which call it goes on, for a model. */
export function tellWait(wait: TellableWait): string {
  const where = wait.iteration === '' ? wait.step : `${wait.step}, round ${wait.iteration}`
  const what = `Step ${where} of ${wait.executionId} ${askText(wait)}`
  return `${what}${unfitText(wait.exchange.at(-1))}\n${wait.notYou === undefined ? nextText(wait) : `That is not for you to say: ${wait.notYou}. Leave it to them.`}`
}

/** Words that were not taken: without this the question would look as if nobody had answered it. */
function unfitText(last: object | undefined): string {
  const { kind, text, problems } = Object(last)
  if (kind !== 'unfit') return ''
  return ` What was said last, ${JSON.stringify(text)}, was not understood and is kept beside it: ${[problems].flat().join('; ')}.`
}

function askText({ kind, asks, tool }: TellableWait): string {
  if (kind === 'tool') return `is about to call ${tool} with ${JSON.stringify(asks)}.`
  const { from, message, show, deadline } = isJsonObject(asks) ? asks : {}
  const until = typeof deadline === 'string' ? `, until ${deadline}` : ''
  const asked = JSON.stringify(kind === 'approval' ? show : message)
  const verb = kind === 'approval' ? 'waits for a yes to' : 'asks'
  return `${verb} ${asked} (from ${whom(from)}${until}).`
}

function whom(from: Json | undefined): string {
  if (typeof from !== 'string') return 'somebody'
  if (from === 'customer') return 'the customer'
  return from.startsWith('group:') ? `the group ${from.slice('group:'.length)}` : `the role ${from}`
}

function nextText({ kind, asks, answer, ...ref }: TellableWait): string {
  const { executionId, step, iteration } = ref
  const place = JSON.stringify({ executionId, step, ...(iteration !== '' && { iteration }) })
  if (kind === 'ask') {
    const form = answer === null ? '' : ` \`answer\` is ${schemaText(answer)}.`
    const ofCustomer =
      isJsonObject(asks) && asks.from === 'customer'
        ? ' Ask the customer; never make an answer up.'
        : ''
    return `Next: answer_step with ${place} and \`answer\`, or \`text\` for words as they were said.${form}${ofCustomer}`
  }
  return `Next: approve_step or deny_step with ${place}. Look at what it is before you say yes.`
}
