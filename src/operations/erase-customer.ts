import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Db, TenantDb } from '../db/connect.ts'
import {
  countErasable,
  countExperiencesOf,
  countTakenAway,
  findErasureOf,
  finishErasure,
  hasCounters,
  hasProposalsOf,
  insertErasure,
  listErasableRuns,
  listErasableTickets,
  listUnfinished,
  lockErasure,
  type RunningErasure,
} from '../db/queries/erasures.ts'
import { listLessonsWith } from '../db/queries/lessons.ts'
import { clearNotes, listNotesWith } from '../db/queries/outside-executions.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { batchSize, type Erasing, eraseBatch } from './erase-batch.ts'

/** As many are named when something is in the way. */
const namedUnfinished = 20

/**
 * Erases what a customer's runs and tickets hold about them, for ever: each run is sealed, then its values go and their
 * digests stay. What was experienced with them is deleted. Refused while a run of the customer goes on or an escalation is open. It goes in batches, and may be
 * repeated: one that was cut off is carried on.
 *
 * @see docs/erasure.md
 */
export const eraseCustomer = defineOperation({
  name: 'eraseCustomer',
  administrative: true,
  summary: "Erase a customer's data from all runs, for ever",
  input: z.strictObject({
    customerId: z.string().min(1).max(200),
    reason: z
      .string()
      .trim()
      .min(1, 'must say why')
      .max(1_000)
      .describe('It stays in the audit log: write nothing about the customer into it'),
    dryRun: z.boolean().default(false).describe('Only say what would be erased'),
  }),
  output: z.object({
    erasureId: z
      .string()
      .nullable()
      .describe('null for a dry run, and when nothing was found of the customer'),
    runs: z.int().describe('Runs that were erased, or would be, with those that they have called'),
    tickets: z.int().describe('The same of tickets that no playbook fitted'),
    experiences: z
      .int()
      .describe(
        'Experiences that name the customer, besides those of the runs, which go with them',
      ),
    unfinished: z
      .object({ runs: z.array(z.string()), escalations: z.array(z.string()) })
      .describe('Of a dry run: what is in the way'),
    takenAway: z
      .int()
      .describe(
        'How many exports and bundles the log knows of, whomever they are about: what they hold is not erased',
      ),
    lessons: z
      .array(z.string())
      .describe('Lessons that name the customer: they are not erased, and should be removed'),
    receipt: z
      .string()
      .nullable()
      .describe(
        'The salt of the digest that stands for the customer in the audit log; it is stored nowhere. With the id of the customer it proves that the erasure was theirs',
      ),
  }),
  errors: ['ERASURE_BLOCKED'],
  roles: ['admin'],
  async run(context, { customerId, reason, dryRun }) {
    const { app, caller, db } = context
    if (names(reason, customerId)) {
      const problems = [
        { path: 'reason', message: 'names the customer, and would stay in the audit log' },
      ]
      throw new ServiceError('REQUEST_INVALID', { operation: 'eraseCustomer', problems })
    }
    const unfinished = await listUnfinished(db.kysely, customerId, namedUnfinished)
    const takenAway = await countTakenAway(db.kysely)
    const lessons = await listNaming(db, customerId)
    if (dryRun) {
      const counts = await countErasable(db.kysely, { customerId })
      const named = { runs: [...unfinished.runs], escalations: [...unfinished.escalations] }
      return { erasureId: null, ...counts, unfinished: named, takenAway, lessons, receipt: null }
    }
    refuseUnfinished(customerId, unfinished)
    const begun = await findErasureOf(db.kysely, customerId)
    if (begun === undefined && !(await isKnown(db, customerId))) {
      const none = {
        runs: 0,
        tickets: 0,
        experiences: 0,
        unfinished: { runs: [], escalations: [] },
      }
      return { erasureId: null, ...none, takenAway, lessons, receipt: null }
    }
    const erasure = begun ?? (await begin(context, customerId, reason))
    const erasing = {
      principal: caller.principal,
      origin: caller.origin,
      erasureId: erasure.id,
      isWaiting: true,
    }
    await eraseAll(context, erasing, customerId)
    // What began meanwhile is in the way as well; the erasure then stays open.
    refuseUnfinished(customerId, await listUnfinished(db.kysely, customerId, namedUnfinished))
    const done = await db.kysely.transaction().execute(async (transaction) => {
      const last = await lockErasure(transaction, erasure.id, { isWaiting: true })
      if (last === undefined) return { ...erasure, experiences: 0 }
      const experiences = await countExperiencesOf(transaction, { customerId })
      await clearNotes(transaction, await listNotesNaming(transaction, customerId))
      const { principal, origin } = caller
      await finishErasure(transaction, erasure.id, customerId, {
        principal,
        origin,
        at: app.clock.now(),
      })
      return { ...last, experiences }
    })
    return {
      erasureId: erasure.id,
      runs: done.runCount,
      tickets: done.ticketCount,
      experiences: done.experiences,
      unfinished: { runs: [], escalations: [] },
      takenAway,
      lessons,
      receipt: erasure.customerSalt,
    }
  },
})

/** Whether anything is stored under the id: a mistyped one leaves no event and no receipt that somebody would keep as proof. */
async function isKnown(db: TenantDb, customerId: string): Promise<boolean> {
  const { runs, tickets, experiences } = await countErasable(db.kysely, { customerId })
  return (
    runs + tickets + experiences > 0 ||
    (await hasCounters(db.kysely, customerId)) ||
    (await hasProposalsOf(db.kysely, { customerId })) ||
    (await listNotesNaming(db.kysely, customerId)).length > 0
  )
}

/** The notes on runs made elsewhere that somebody has written the customer's id into, against all advice: they go. */
async function listNotesNaming(db: Db, customerId: string): Promise<readonly Id<'outside'>[]> {
  const notes = await listNotesWith(db, customerId)
  return notes.filter(({ note }) => names(note, customerId)).map(({ id }) => id)
}

/** The lessons that somebody has written the customer's id into, against all advice. */
async function listNaming(db: TenantDb, customerId: string): Promise<string[]> {
  const lessons = await listLessonsWith(db.kysely, customerId)
  return lessons.filter(({ content }) => names(content, customerId)).map(({ id }) => id)
}

function refuseUnfinished(
  customerId: string,
  { runs, escalations }: Awaited<ReturnType<typeof listUnfinished>>,
): void {
  if (runs.length + escalations.length === 0) return
  throw new ServiceError('ERASURE_BLOCKED', { customerId, runs, escalations })
}

async function begin(
  { app, caller, db }: OperationContext,
  customerId: string,
  reason: string,
): Promise<RunningErasure> {
  const salt = randomBytes(32).toString('hex')
  const id = await insertErasure(db.kysely, {
    principal: caller.principal,
    reason,
    at: app.clock.now(),
    customer: { id: customerId, salt },
  })
  return { id, customerSalt: salt, runCount: 0, ticketCount: 0 }
}

async function eraseAll(
  { app, caller, db }: OperationContext,
  erasing: Erasing,
  customerId: string,
): Promise<void> {
  const limit = batchSize[app.database.kind]
  let erased = 0
  for (;;) {
    const batch = await nextBatch(db, customerId, limit)
    if (batch.runs.length + batch.tickets.length === 0) return
    const done = await eraseBatch(app, erasing, batch)
    if (done === undefined) return
    erased += done.runs + done.tickets
    caller.onProgress?.(`${erased} ${erased === 1 ? 'run or ticket' : 'runs and tickets'} erased`)
  }
}

// What was erased names no customer any more, so each look finds what is left, also when runs were started meanwhile.
async function nextBatch(db: TenantDb, customerId: string, limit: number) {
  const subject = { customerId }
  const runs = await listErasableRuns(db.kysely, subject, { after: '', limit })
  const tickets = await listErasableTickets(db.kysely, subject, limit)
  return { runs, tickets }
}

/** Whether a text holds an id as a word of its own: a short one is part of many words. */
function names(text: string, id: string): boolean {
  const isPart = (character: string | undefined) => /[\p{L}\p{N}_-]/u.test(character ?? '')
  let at = text.indexOf(id)
  while (at !== -1) {
    if (!isPart(text[at - 1]) && !isPart(text[at + id.length])) return true
    at = text.indexOf(id, at + 1)
  }
  return false
}
