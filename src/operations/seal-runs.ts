import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { AppContext } from '../context.ts'
import type { Transaction } from '../db/connect.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import { listConcealments, listReplyRows, listRunRows } from '../db/queries/run-rows.ts'
import {
  findNextSealNumber,
  insertSeal,
  listAllLateReplies,
  listLateReplies,
  listSealable,
  listWaitingSealable,
  lockSealing,
  type NewSealedRecord,
  type Seal,
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
  /** Of everything only these, without late replies: what is about to be erased. */
  readonly among?: readonly string[]
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
  sealing: Sealing,
): Promise<number | undefined> {
  const db = app.database.forTenant(tenantId)
  return db.kysely.transaction().execute(async (transaction) => {
    const cursor = await lockSealing(transaction, tenantId)
    if (cursor === undefined) return undefined
    const now = app.clock.now()
    const size = sealSize[app.database.kind]
    const found = await (sealing.everything
      ? findAll(transaction, cursor, { now, size }, sealing.among)
      : findNext(transaction, cursor, { now, size }))
    const records = [
      ...(await recordsOfRuns(transaction, found.runs)),
      ...(await recordsOfReplies(transaction, found.replies.slice(0, size - found.runs.length))),
    ].sort(byId)
    const seal = await insertSealOf(transaction, tenantId, records)
    await walkOn(transaction, tenantId, { ...found.cursor, limit: walkSize })
    if (seal !== undefined) await tellSeal(transaction, seal, sealing, now)
    return records.length
  })
}

/** What is to be sealed, and how far the cursor may go then. */
interface Found {
  readonly runs: readonly string[]
  readonly replies: readonly string[]
  readonly cursor: SealCursor & { readonly upTo: string }
}

interface Round {
  readonly now: number
  readonly size: number
}

/** What the chore takes: what was put aside and has ended since, and what is behind the cursor. */
async function findNext(
  transaction: Transaction,
  cursor: SealCursor,
  { now, size }: Round,
): Promise<Found> {
  const ready = { endedBefore: new Date(now - replyWaitMs), limit: size }
  const waiting = await listWaitingSealable(transaction, ready)
  const walked = await listSealable(transaction, { ...ready, after: cursor.walkedTo })
  const late = await listLateReplies(transaction, cursor.repliesFrom, size)
  const oldEnough = lowestId('execution', now - cursorDelayMs)
  // Not beyond the last run of a list that was cut.
  const last = walked.length < size ? undefined : walked.at(-1)
  return {
    runs: [...new Set([...waiting, ...walked])].sort().slice(0, size),
    replies: late.ids,
    cursor: {
      walkedTo: cursor.walkedTo,
      repliesFrom: late.last ?? '',
      upTo: last !== undefined && last < oldEnough ? last : oldEnough,
    },
  }
}

/** Whatever has ended. The cursor stays. */
async function findAll(
  transaction: Transaction,
  cursor: SealCursor,
  { now, size }: Round,
  among: readonly string[] | undefined,
): Promise<Found> {
  const endedBefore = new Date(now + 1)
  return {
    runs: await listSealable(transaction, { after: '', endedBefore, limit: size, among }),
    replies: among === undefined ? await listAllLateReplies(transaction, size) : [],
    cursor: { ...cursor, upTo: cursor.walkedTo },
  }
}

async function insertSealOf(
  transaction: Transaction,
  tenantId: string,
  records: readonly NewSealedRecord[],
): Promise<Seal | undefined> {
  const [first] = records
  const last = records.at(-1)
  if (first === undefined || last === undefined) return undefined
  const seal = {
    number: await findNextSealNumber(transaction),
    recordVersion,
    count: records.length,
    root: merkleRoot(records.map(({ leaf }) => leaf)),
    first: first.executionId,
    last: last.executionId,
  }
  await insertSeal(transaction, tenantId, seal, records)
  return seal
}

async function tellSeal(
  transaction: Transaction,
  { number, ...details }: Seal,
  { principal, origin }: Sealing,
  at: number,
): Promise<void> {
  await insertAuditEvent(transaction, {
    at,
    principal,
    origin,
    action: sealAction,
    entityKind: 'seal',
    entityId: String(number),
    details,
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
