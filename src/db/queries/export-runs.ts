import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { lowestId } from '../../domain/ids.ts'
import type { Db } from '../connect.ts'
import type { ExecutionsTable, RepliesTable, StepExecutionsTable } from '../rows/executions.ts'
import type { Tables } from '../tables.ts'

/** Which runs are meant; all that are not given mean all. */
export interface RunFilter {
  /** Started at or after. */
  readonly from?: Date | undefined
  /** Started before. */
  readonly to?: Date | undefined
  readonly procedureKey?: string | undefined
  readonly versionNumber?: number | undefined
  readonly status?: ExecutionsTable['status'] | undefined
  readonly reasonCode?: string | undefined
  /** A tool that one of the steps has called. */
  readonly tool?: string | undefined
  /** The id of the requester. */
  readonly principal?: string | undefined
  readonly customerId?: string | undefined
  readonly ticketId?: string | undefined
}

/** An id is made a moment before its row says when it was created; so much is allowed for. */
const idSlackMs = 3_600_000

type RunTables = Tables & { e: ExecutionsTable }

/** The conditions on a run `e`, for either export. Time bounds also bound the ids, which are in the order of time. */
function matches(eb: ExpressionBuilder<RunTables, 'e'>, filter: RunFilter) {
  const { from, to, procedureKey, versionNumber, status, reasonCode } = filter
  const { tool, principal, customerId, ticketId } = filter
  return eb.and([
    ...(from === undefined
      ? []
      : [
          eb('e.created_at', '>=', from),
          eb('e.id', '>', lowestId('execution', Math.max(0, from.getTime() - idSlackMs))),
        ]),
    ...(to === undefined
      ? []
      : [
          eb('e.created_at', '<', to),
          eb('e.id', '<', lowestId('execution', to.getTime() + idSlackMs)),
        ]),
    ...(procedureKey === undefined ? [] : [eb('e.procedure_key', '=', procedureKey)]),
    ...(versionNumber === undefined ? [] : [eb('e.version_number', '=', versionNumber)]),
    ...(status === undefined ? [] : [eb('e.status', '=', status)]),
    ...(reasonCode === undefined ? [] : [eb('e.reason_code', '=', reasonCode)]),
    ...(principal === undefined ? [] : [sql<boolean>`e.requester ->> 'id' = ${principal}`]),
    ...(customerId === undefined ? [] : [eb('e.customer_id', '=', customerId)]),
    ...(ticketId === undefined ? [] : [eb('e.ticket_id', '=', ticketId)]),
    ...(tool === undefined
      ? []
      : [
          eb.exists(
            eb
              .selectFrom('step_executions as t')
              .whereRef('t.tenant_id', '=', 'e.tenant_id')
              .whereRef('t.execution_id', '=', 'e.id')
              .where('t.tool', '=', tool),
          ),
        ]),
  ])
}

export type ExportedRun = Selectable<ExecutionsTable> & {
  readonly reply_text: Selectable<RepliesTable>['text'] | null
  readonly erased_at: Date | null
}

/** Runs by id, behind one. */
export async function listRunsToExport(
  db: Db,
  filter: RunFilter,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly ExportedRun[]> {
  return db
    .selectFrom('executions as e')
    .leftJoin('replies as r', (join) =>
      join.onRef('r.tenant_id', '=', 'e.tenant_id').onRef('r.execution_id', '=', 'e.id'),
    )
    .leftJoin('erased_records as x', (join) =>
      join.onRef('x.tenant_id', '=', 'e.tenant_id').onRef('x.execution_id', '=', 'e.id'),
    )
    .selectAll('e')
    .select(['r.text as reply_text', 'x.erased_at'])
    .where((eb) => matches(eb, filter))
    .where('e.id', '>', after)
    .orderBy('e.id')
    .limit(limit)
    .execute()
}

export type ExportedStep = Selectable<StepExecutionsTable> &
  Pick<Selectable<ExecutionsTable>, 'procedure_key' | 'version_number'>

/** Steps by run and place, behind one. With a tool only the steps that have called it. */
export async function listStepsToExport(
  db: Db,
  filter: RunFilter,
  {
    after,
    limit,
  }: {
    readonly after: { readonly executionId: string; readonly ordinal: number }
    readonly limit: number
  },
): Promise<readonly ExportedStep[]> {
  const { tool, ...ofRun } = filter
  let query = db
    .selectFrom('step_executions as s')
    .innerJoin('executions as e', (join) =>
      join.onRef('e.tenant_id', '=', 's.tenant_id').onRef('e.id', '=', 's.execution_id'),
    )
    .selectAll('s')
    .select(['e.procedure_key', 'e.version_number'])
    .where((eb) => matches(eb, ofRun))
    .where(sql<boolean>`(s.execution_id, s.ordinal) > (${after.executionId}, ${after.ordinal})`)
  if (tool !== undefined) query = query.where('s.tool', '=', tool)
  return query.orderBy('s.execution_id').orderBy('s.ordinal').limit(limit).execute()
}
