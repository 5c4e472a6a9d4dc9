import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { AppContext } from '../context.ts'
import type { Transaction } from '../db/connect.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import { listConcealments, listReplyRows, listRunRows } from '../db/queries/run-rows.ts'
import {
  findNextSealNumber,
  insertSeal,
  listLateReplies,
  listSealable,
  listWaitingSealable,
  lockSealing,
  type NewSealedRecord,
  type SealCursor,
  walkOn,
} from '../db/queries/seals.ts'
import { sealAction } from '../domain/evidence-seals.ts'
import { lowestId } from '../domain/ids.ts'
import { merkleRoot } from '../domain/merkle.ts'
import type { Principal } from '../domain/principal.ts'
import { recordVersion, replyLeaf, runLeaf } from '../domain/record.ts'
import type { Origin } from './define.ts'

/** Who seals, and what. */
export interface Sealing {
  readonly principal: Principal
  readonly origin: Origin
  /**
   * Every run that has ended, wherever the cursor is, with or without a reply; else those that the chore takes: behind the
   * cursor, and without a reply only five minutes after their end.
   */
  readonly everything: boolean
}

/** The most records in one seal. An embedded database does nothing else while it is made. */
const sealSize = { postgres: 1_000, pglite: 100 } as const
/** A reply is written right after its run; one that takes longer has a record of its own. */
const replyWaitMs = 5 * 60_000
/**
 * Runs are committed a moment after their id was made, so the cursor stays so far behind. One that takes longer is found by
 * `audit seal`, and counted by `audit verify`.
 */
const cursorDelayMs = 60_000
const walkSize = 5_000
/** After so many records whatever else the process has to do gets its turn. */
const recordsAtOnce = 20

/**
 * Seals runs of one tenant that have ended, at most one seal, and answers how many records it has; undefined when another
 * process seals for the tenant just now.
 */
export async function sealRuns(
  app: AppContext,
  tenantId: string,
  { principal, origin, everything }: Sealing,
): Promise<number | undefined> {
  const db = app.database.forTenant(tenantId)
  return db.kysely.transaction().execute(async (transaction) => {
    const cursor = await lockSealing(transaction, tenantId)
    if (cursor === undefined) return undefined
    const now = app.clock.now()
    const size = sealSize[app.database.kind]
    const endedBefore = new Date(everything ? now + 1 : now - replyWaitMs)
    const limit = size
    const waiting = everything ? [] : await listWaitingSealable(transaction, { endedBefore, limit })
    const after = everything ? '' : cursor.walkedTo
    const walked = await listSealable(transaction, { after, endedBefore, limit })
    const ids = [...new Set([...waiting, ...walked])].sort().slice(0, size)
    const late = await listLateReplies(transaction, everything ? '' : cursor.repliesFrom, size)
    const records = [
      ...(await recordsOfRuns(transaction, ids)),
      ...(await recordsOfReplies(transaction, late.ids.slice(0, size - ids.length))),
    ].sort(byId)
    const [first] = records
    const last = records.at(-1)
    if (first !== undefined && last !== undefined) {
      const leaves = records.map(({ leaf }) => leaf)
      const seal = {
        number: await findNextSealNumber(transaction),
        recordVersion,
        count: records.length,
        root: merkleRoot(leaves),
        first: first.executionId,
        last: last.executionId,
      }
      await insertSeal(transaction, tenantId, seal, records)
      await walk(transaction, tenantId, cursor, { walked, size, late: late.last, now })
      const { number, ...details } = seal
      await insertAuditEvent(transaction, {
        at: now,
        principal,
        origin,
        action: sealAction,
        entityKind: 'seal',
        entityId: String(number),
        details,
      })
    } else {
      await walk(transaction, tenantId, cursor, { walked, size, late: late.last, now })
    }
    return records.length
  })
}

/** Moves the cursor behind what was looked at; not beyond the last run of a list that was cut. */
async function walk(
  transaction: Transaction,
  tenantId: string,
  cursor: SealCursor,
  seen: {
    readonly walked: readonly string[]
    readonly size: number
    readonly late: string | null
    readonly now: number
  },
): Promise<void> {
  const oldEnough = lowestId('execution', seen.now - cursorDelayMs)
  const last = seen.walked.length < seen.size ? undefined : seen.walked.at(-1)
  await walkOn(transaction, tenantId, {
    walkedTo: cursor.walkedTo,
    repliesFrom: seen.late ?? '',
    upTo: last !== undefined && last < oldEnough ? last : oldEnough,
    limit: walkSize,
  })
}

async function recordsOfRuns(
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly NewSealedRecord[]> {
  const runs = await listRunRows(transaction, ids, false)
  const records: NewSealedRecord[] = []
  for (const [executionId, rows] of runs) {
    const salt = randomBytes(32).toString('hex')
    const { hash } = runLeaf(rows, { salt })
    records.push({ executionId, kind: 'run', leaf: hash, hasReply: rows.reply !== null, salt })
    if (records.length % recordsAtOnce === 0) await setImmediate()
  }
  return records
}

async function recordsOfReplies(
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly NewSealedRecord[]> {
  const replies = await listReplyRows(transaction, ids)
  const concealments = await listConcealments(transaction, ids)
  return [...replies].map(([executionId, reply]) => {
    const { hash } = replyLeaf(reply, concealments.get(executionId) ?? {})
    return { executionId, kind: 'reply', leaf: hash, hasReply: true }
  })
}

/** By bytes, as the database sorts ids; a reply of a run after the run. */
function byId(a: NewSealedRecord, b: NewSealedRecord): number {
  if (a.executionId === b.executionId) return a.kind === 'run' ? -1 : 1
  return a.executionId < b.executionId ? -1 : 1
}
