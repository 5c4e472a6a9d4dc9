import type { AppContext } from '../context.ts'
import type { Db } from '../db/connect.ts'
import { findAuditHead, listCheckpoints } from '../db/queries/checkpoints.ts'
import { listEventsWithHead, listRowLines, listSealLines } from '../db/queries/evidence.ts'
import { countUnsealed } from '../db/queries/seals.ts'
import { type EvidenceLine, type RowTable, rowTables } from '../domain/evidence.ts'
import { sealAction } from '../domain/evidence-seals.ts'

/** Where reading goes on: the part that is being read, and what was read of it last. */
export type EvidencePlace =
  | { readonly part: 'rows'; readonly table: RowTable; readonly after: string }
  | { readonly part: 'checkpoints'; readonly after: number }
  | { readonly part: 'events'; readonly after: number; readonly seals: number }
  | {
      readonly part: 'seals'
      readonly after: number
      readonly seals: number
      readonly head: { readonly seq: number; readonly hash: string | null }
    }

/** Some lines, and where to go on; undefined after the last. */
export interface EvidencePage {
  readonly lines: readonly EvidenceLine[]
  readonly next: EvidencePlace | undefined
}

const pageSize = 1_000

/**
 * The next page of all evidence of a tenant, as docs/decisions/0016-seals.md orders it; the first without a place. A page
 * of seals is one seal with its records; values that are kept apart are in them only when `withApart`. Nothing stands still
 * meanwhile: what is written while pages are read is in a later evidence.
 */
export async function readEvidence(
  app: AppContext,
  tenantId: string,
  place: EvidencePlace | undefined,
  withApart: boolean,
): Promise<EvidencePage> {
  const db = app.database.forTenant(tenantId).kysely
  if (place === undefined) {
    const madeAt = new Date(app.clock.now()).toISOString()
    const { seq: asOf } = await findAuditHead(db)
    const header = {
      kind: 'header',
      format: 2,
      scope: 'all',
      tenant: tenantId,
      madeAt,
      asOf,
    } as const
    return { lines: [header], next: { part: 'rows', table: rowTables[0], after: '' } }
  }
  switch (place.part) {
    case 'rows':
      return readRows(db, place)
    case 'checkpoints':
      return readCheckpoints(db, place.after)
    case 'events':
      return readEvents(db, place)
    case 'seals':
      return readSeal(db, place, withApart)
    default:
      return place satisfies never
  }
}

/** All of it, page by page, with the values that are kept apart: for who looks at it on the spot. */
export async function* allEvidence(
  app: AppContext,
  tenantId: string,
): AsyncGenerator<readonly EvidenceLine[]> {
  let place: EvidencePlace | undefined
  do {
    const { lines, next } = await readEvidence(app, tenantId, place, true)
    yield lines
    place = next
  } while (place !== undefined)
}

async function readRows(
  db: Db,
  { table, after }: EvidencePlace & { readonly part: 'rows' },
): Promise<EvidencePage> {
  const { lines, next } = await listRowLines(db, table, after)
  if (next !== undefined) return { lines, next: { part: 'rows', table, after: next } }
  const following = rowTables[rowTables.indexOf(table) + 1]
  return {
    lines,
    next:
      following === undefined
        ? { part: 'checkpoints', after: 0 }
        : { part: 'rows', table: following, after: '' },
  }
}

async function readCheckpoints(db: Db, after: number): Promise<EvidencePage> {
  const checkpoints = await listCheckpoints(db, { after, limit: pageSize })
  // Two keys may have signed one event, so a full page leaves its last event to the next.
  const last = checkpoints.at(-1)
  const isFull = checkpoints.length === pageSize && last !== undefined
  const whole = isFull ? checkpoints.filter(({ seq }) => seq < last.seq) : checkpoints
  return {
    lines: whole.map((checkpoint) => ({ kind: 'checkpoint', checkpoint })),
    next: isFull
      ? { part: 'checkpoints', after: last.seq - 1 }
      : { part: 'events', after: 0, seals: 0 },
  }
}

async function readEvents(
  db: Db,
  place: EvidencePlace & { readonly part: 'events' },
): Promise<EvidencePage> {
  const { events, head } = await listEventsWithHead(db, {
    after: place.after,
    limit: pageSize + 1,
  })
  const shown = events.slice(0, pageSize)
  const seals = shown.reduce(
    (most, { action, entityId }) =>
      action === sealAction ? Math.max(most, Number(entityId)) : most,
    place.seals,
  )
  const last = shown.at(-1)
  return {
    lines: shown.map((event) => ({ kind: 'event', event })),
    next:
      events.length > pageSize && last !== undefined
        ? { part: 'events', after: last.seq, seals }
        : { part: 'seals', after: 0, seals, head: head ?? (await findAuditHead(db)) },
  }
}

async function readSeal(
  db: Db,
  place: EvidencePlace & { readonly part: 'seals' },
  withApart: boolean,
): Promise<EvidencePage> {
  const { after, seals: upTo } = place
  // One moment for all rows of a seal: of a run that is erased just now, else, some would be from before and some from after.
  const lines = await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute((transaction) => listSealLines(transaction, { after, upTo }, withApart))
  const [seal] = lines
  if (seal?.kind === 'seal') return { lines, next: { ...place, after: seal.number } }
  const end = {
    kind: 'end',
    ...place.head,
    unsealed: await countUnsealed(db, place.seals),
  } as const
  return { lines: [end], next: undefined }
}
