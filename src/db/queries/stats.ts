import type { Db } from '../connect.ts'
import { unfitted } from './escalations.ts'

/** How many there are of what, in one tenant. */
export interface Stats {
  readonly procedures: number
  readonly versions: Readonly<Record<'draft' | 'active' | 'deprecated', number>>
  /** By how they ended, or the state that they are in. */
  readonly executions: Readonly<Record<string, number>>
  readonly escalations: Readonly<Record<'open' | 'assigned' | 'resolved', number>>
  readonly coverageGaps: number
}

/** Counts a tenant's rows: linear in them, so for people who look now and then. */
export async function readStats(db: Db): Promise<Stats> {
  const procedures = await db
    .selectFrom('procedures')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const gaps = await unfitted(db)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const versions = await db
    .selectFrom('procedure_versions')
    .select(({ fn }) => ['status', fn.countAll<number>().as('n')])
    .groupBy('status')
    .execute()
  const executions = await db
    .selectFrom('executions')
    .select(({ fn }) => [fn.coalesce('outcome', 'status').as('end'), fn.countAll<number>().as('n')])
    .groupBy(({ fn }) => fn.coalesce('outcome', 'status'))
    .orderBy('end')
    .execute()
  const escalations = await db
    .selectFrom('escalations')
    .select(({ fn }) => ['status', fn.countAll<number>().as('n')])
    .groupBy('status')
    .execute()
  return {
    procedures: Number(procedures.n),
    versions: { draft: 0, active: 0, deprecated: 0, ...tally(versions) },
    executions: Object.fromEntries(executions.map(({ end, n }) => [end, Number(n)])),
    escalations: { open: 0, assigned: 0, resolved: 0, ...tally(escalations) },
    coverageGaps: Number(gaps.n),
  }
}

function tally<S extends string>(
  rows: readonly { readonly status: S; readonly n: number }[],
): { readonly [K in S]?: number } {
  return Object.fromEntries(rows.map(({ status, n }) => [status, Number(n)])) as {
    readonly [K in S]?: number
  }
}
