import { z } from 'zod'
import type { Db } from '../db/connect.ts'
import { constraintOf } from '../db/database-errors.ts'
import { findEscalation, insertTriageItem } from '../db/queries/escalations.ts'
import { hashOf } from '../domain/canonical.ts'
import { stoppedText } from '../domain/error-entries/entry.ts'
import { isServiceError } from '../domain/errors.ts'
import { type Reason, reasonOf } from '../domain/escalation.ts'
import type { Ticket } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import type { SelectionRecord } from '../domain/selection.ts'
import { noMatchReply } from '../reply/built-in.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { replyOutput, runOutput } from './execution-output.ts'
import { getActiveVersion } from './find-version.ts'
import { findRepeatedRun, findRepeatedTriage, type RunRequest, runVersion } from './run-version.ts'
import { search, searchInput, selectionOutput } from './search-procedures.ts'
import { procedureKey, reason, ticket } from './shapes.ts'
import { startInput } from './start-execution.ts'

const { issue: _issue, ...searchOptions } = searchInput

type Selection = z.infer<typeof selectionOutput>

/** As many as a search answers by default; more would only make each run's row larger. */
const keptCandidates = 3

/**
 * The whole way from a ticket to its answer: finds the one active playbook that fits, runs it, and replies from the
 * record. When none fits, or the one that fits may not start, nothing runs and a triage item is opened; when several fit,
 * nothing runs and the list is for the agent to choose from, by `procedureKey`.
 */
export const resolveTicket = defineOperation({
  name: 'resolveTicket',
  summary: 'Find the playbook for a ticket, run it, and answer from the record',
  input: z.strictObject({
    ticket,
    procedureKey: procedureKey.optional().describe('Runs this one, whatever the search would find'),
    ...searchOptions,
    ...startInput,
  }),
  output: z.object({
    selection: selectionOutput,
    execution: runOutput.shape.execution.nullable(),
    steps: runOutput.shape.steps,
    reply: replyOutput.nullable(),
    triageId: z
      .string()
      .nullable()
      .describe('The triage item, when no playbook fits or the one that fits may not start'),
    triageReason: reason.describe('Why the ticket is for a person; null without a triage item'),
  }),
  errors: [
    'PROCEDURE_NOT_FOUND',
    'PROCEDURE_NOT_ACTIVE',
    'PROCEDURE_STOPPED',
    'IDEMPOTENCY_KEY_REUSED',
    'EMBEDDING_MODEL_DIFFERS',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['agent', 'admin'],
  async run(context, request) {
    const { db } = context
    const selection = await search(context, { ...request, issue: request.ticket.text })
    const repeated = await findRepeatedRun(context, request)
    if (repeated !== undefined) return { selection, ...repeated, ...noTriage }
    const opened = await findRepeatedTriage(db.kysely, request)
    if (opened !== undefined) return toTriage(db.kysely, selection, opened)
    const key = request.procedureKey ?? selection.procedureKey
    if (key !== null) {
      const chosenBy = request.procedureKey === undefined ? 'search' : 'person'
      try {
        const version = await getActiveVersion(db.kysely, key)
        const run = await runVersion(context, version, request, toRecord(selection, chosenBy))
        return { selection, ...run, ...noTriage }
      } catch (error) {
        // Who named the procedure can name another. Of one that search chose nobody else would hear, and the ticket be lost.
        const why = chosenBy === 'search' ? whyNotStarted(error) : undefined
        if (why === undefined) throw error
        return toTriage(db.kysely, selection, await openTriage(context, request, selection, why))
      }
    }
    if (selection.decision === 'ambiguous')
      return { selection, ...nothing, reply: null, ...noTriage }
    const why = reasonOf('no_procedure')
    return toTriage(db.kysely, selection, await openTriage(context, request, selection, why))
  },
})

const noTriage = { triageId: null, triageReason: null }
const nothing = { execution: null, steps: [] }

async function toTriage(db: Db, selection: Selection, triageId: Id<'escalation'>) {
  const item = await findEscalation(db, triageId)
  const triageReason = item?.reason ?? null
  return { selection, ...nothing, reply: noMatchReply(), triageId, triageReason }
}

/** Why a person gets the ticket when its playbook was refused a start; undefined for any other error. */
function whyNotStarted(error: unknown): Reason | undefined {
  if (isServiceError(error, 'PROCEDURE_STOPPED')) {
    const { procedureKey: key, stopped } = error.details
    const what = stopped.kind === 'tool' ? `the tool ${stopped.name}, which ${key} uses,` : key
    return reasonOf('procedure_stopped', { detail: `${what} ${stoppedText(stopped)}` })
  }
  // It, or one that it calls, was taken out of service since the search.
  if (isServiceError(error, 'PROCEDURE_NOT_ACTIVE')) {
    return reasonOf('no_procedure', { detail: error.message })
  }
  return undefined
}

/** Opens a triage item; a repeated request gets the one that it opened before. */
async function openTriage(
  { app, db }: OperationContext,
  request: RunRequest & { readonly ticket: Ticket },
  { candidates, model }: Selection,
  why: Reason,
): Promise<Id<'escalation'>> {
  const { ticket, customerId, idempotencyKey } = request
  const find = () => findRepeatedTriage(db.kysely, request)
  const item = {
    tenantId: db.tenantId,
    reason: why,
    ticket,
    customerId: customerId ?? null,
    candidates,
    model,
    idempotencyKey: idempotencyKey ?? null,
    requestHash: idempotencyKey === undefined ? null : hashOf(request),
    at: app.clock.now(),
  }
  try {
    return await db.kysely
      .transaction()
      .execute((transaction) => insertTriageItem(transaction, item))
  } catch (error) {
    // The same request at the same moment: the other one was first.
    const opened = constraintOf(error) === 'coverage_gaps_idempotency' ? await find() : undefined
    if (opened === undefined) throw error
    return opened
  }
}

/** What is kept of a search with the run that it led to. */
function toRecord(
  { decision, model, fellBack, minSimilarity, margin, candidates }: Selection,
  chosenBy: SelectionRecord['chosenBy'],
): SelectionRecord {
  return {
    chosenBy,
    decision,
    model,
    fellBack,
    minSimilarity,
    margin,
    candidates: candidates
      .slice(0, keptCandidates)
      .map(({ procedureKey, versionNumber, similarity, literal, trackScore }) => ({
        procedureKey,
        versionNumber,
        similarity,
        literal,
        trackScore,
      })),
  }
}
