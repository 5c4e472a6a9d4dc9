import { speaksFor, whyNotApproving, whyNotAsked } from '../domain/asked.ts'
import type { StepRow } from '../domain/execution.ts'
import { isJsonObject, type JsonSchema } from '../domain/json.ts'
import type { Principal } from '../domain/principal.ts'
import type { ApprovalStep } from '../domain/step.ts'
import type { Plan } from '../executor/plan.ts'

/** A run as far as it says who may decide in it. */
interface Asked {
  readonly requester: Pick<Principal, 'id'>
  readonly onBehalfOf?: string | null | undefined
}

/** Why somebody may neither approve nor deny at an approval; undefined for one who may. */
export function whyNotJudging(
  { approval, notBy = [] }: ApprovalStep,
  principal: Principal,
  { requester, onBehalfOf }: Asked,
  row: StepRow,
  rows: readonly StepRow[],
): string | undefined {
  return whyNotApproving(approval, principal, {
    requesters: [requester.id, ...(typeof onBehalfOf === 'string' ? [onBehalfOf] : [])],
    others: rows
      .filter(({ stepKey }) => notBy.includes(stepKey))
      .flatMap(({ exchange = [] }) => exchange),
    exchange: row.exchange ?? [],
  })
}

/** What a step that waits tells whoever looks at it: the form of its answer, and why its word is not theirs to give. */
export function toWaitOutput(
  plan: Plan,
  principal: Principal,
  asked: Asked,
  row: StepRow,
  rows: readonly StepRow[],
): { readonly answer?: JsonSchema; readonly notYou?: string } {
  const node = row.status === 'waiting' ? plan.nodes.get(row.stepKey) : undefined
  if (node?.kind === 'approval') {
    const notYou = whyNotJudging(node.step, principal, asked, row, rows)
    return notYou === undefined ? {} : { notYou }
  }
  if (node?.kind !== 'ask') return {}
  const from = isJsonObject(row.input) ? String(row.input.from) : node.step.ask
  return {
    ...(node.step.answer !== undefined && { answer: node.step.answer }),
    ...(!speaksFor(from, principal) && { notYou: whyNotAsked(from) }),
  }
}
