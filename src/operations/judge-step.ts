import { z } from 'zod'
import { speaksFor } from '../domain/asked.ts'
import { ServiceError } from '../domain/errors.ts'
import { nameOf, type Said } from '../domain/execution.ts'
import { isJsonObject } from '../domain/json.ts'
import { type Principal, roles } from '../domain/principal.ts'
import { concludeApproval } from '../executor/waits.ts'
import { defineOperation } from './define.ts'
import { runOutput } from './execution-output.ts'
import { waitRef } from './shapes.ts'
import { type Heard, speakerOf, speakTo, type Word, wordErrors } from './speak.ts'
import { whyNotJudging } from './wait-output.ts'

type Judgement = Extract<Said, { readonly kind: 'approved' | 'denied' }>

/** A yes or a no to a step that waits for one: an approval, or a write of a guided run. */
export function defineJudgement(name: string, summary: string, kind: Judgement['kind']) {
  return defineOperation({
    name,
    summary,
    input: z.strictObject({
      ...waitRef,
      comment: z.string().min(1).max(4_000).optional().describe('Why, for the record'),
      showHash: z
        .string()
        .optional()
        .describe('The hash of what was shown: a yes to anything else is refused'),
    }),
    output: runOutput,
    errors: [...wordErrors, 'APPROVAL_STALE'],
    roles,
    run: (context, { comment, showHash, ...ref }) =>
      speakTo(context, ref, (heard) => {
        const { principal } = context.caller
        mayJudge(heard, principal)
        const shown = shownHash(heard)
        if (showHash !== undefined && shown !== undefined && showHash !== shown) {
          const at = { executionId: heard.execution.id, step: nameOf(heard.row) }
          throw new ServiceError('APPROVAL_STALE', { ...at, showHash: shown })
        }
        const said: Judgement = {
          kind,
          at: heard.at,
          by: speakerOf(principal),
          ...(comment !== undefined && { comment }),
          ...(kind === 'approved' && shown !== undefined && { showHash: shown }),
        }
        return judge(heard, said)
      }),
  })
}

function judge({ node, row }: Heard, said: Judgement): Word {
  if (node.kind === 'approval') {
    const judged = concludeApproval(node, row, said)
    return { row: judged, goesOn: judged.endedAt !== null }
  }
  // A write of a guided run: what follows from the word is decided when the run goes on.
  return { row: { ...row, exchange: [...(row.exchange ?? []), said] }, goesOn: true }
}

function mayJudge({ node, row, rows, state, execution }: Heard, principal: Principal): void {
  const at = { executionId: execution.id, step: nameOf(row) }
  if (node.kind === 'tool') {
    if (!speaksFor('agent', principal) && !speaksFor('admin', principal)) {
      throw new ServiceError('NOT_ASKED', { ...at, why: 'an agent or an admin confirms it' })
    }
    // The first word decides, also while nobody has carried it out.
    const said = row.exchange?.find(({ kind }) => kind === 'approved' || kind === 'denied')
    if (said !== undefined) throw new ServiceError('WAIT_CLOSED', { ...at, status: said.kind })
    return
  }
  if (node.kind !== 'approval') {
    throw new ServiceError('WAIT_DIFFERS', { ...at, needs: 'It asks for an answer.' })
  }
  const why = whyNotJudging(node.step, principal, state.start, row, rows)
  if (why !== undefined) throw new ServiceError('NOT_ASKED', { ...at, why })
}

function shownHash({ row: { input } }: Heard): string | undefined {
  return isJsonObject(input) && typeof input.showHash === 'string' ? input.showHash : undefined
}
