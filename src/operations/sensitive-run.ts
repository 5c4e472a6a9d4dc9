import type { AppContext } from '../context.ts'
import type { Db, TenantDb } from '../db/connect.ts'
import { type Execution, toRecord } from '../db/queries/executions.ts'
import { listSensitiveValues } from '../db/queries/sensitive-values.ts'
import { ServiceError } from '../domain/errors.ts'
import type { ExecutionRecord, ExecutionStart, StepRow } from '../domain/execution.ts'
import { openRecord } from '../domain/open-record.ts'
import { isIntact, type SensitiveValue } from '../domain/sensitive-value.ts'
import type { Plan } from '../executor/plan.ts'
import { type CalledProcedure, findSensitivity, type Sensitivity } from '../executor/sensitivity.ts'
import { planOfPin } from './execution-plan.ts'
import { Vault } from './vault.ts'

/** What of a run is sensitive, the runs that it calls included; undefined when nothing is. */
export async function sensitivityOf(
  app: AppContext,
  db: TenantDb,
  plan: Plan,
  pins: ExecutionStart['pins'] = {},
): Promise<Sensitivity | undefined> {
  if (plan.calls.length === 0) return plan.sensitivity
  const plans = new Map<string, Plan>()
  for (const [key, pin] of Object.entries(pins)) plans.set(key, await planOfPin(app, db, pin))
  const called = new Map<string, CalledProcedure>()
  for (const key of plan.calls) {
    const input = plans.get(key)?.definition.input ?? {}
    called.set(key, { input, isSensitive: holdsSensitive(key, plans) })
  }
  return findSensitivity(plan, called)
}

/** Calls that lead in a circle are refused with the definition. */
function holdsSensitive(key: string, plans: ReadonlyMap<string, Plan>): boolean {
  const plan = plans.get(key)
  if (plan === undefined) return false
  return plan.sensitivity !== undefined || plan.calls.some((other) => holdsSensitive(other, plans))
}

/** A run as it was loaded, whole. */
export interface OpenedRun {
  readonly record: ExecutionRecord
  readonly values: readonly SensitiveValue[]
  /** What its rows go through on their way to the database; absent where nothing is sensitive. */
  readonly vault?: Vault
}

/**
 * Puts what is stored apart back into a record, for deciding and for replay. Reads nothing where nothing is sensitive.
 *
 * @throws ServiceError `SENSITIVE_VALUE_LOST` when a value is gone, or is not the one that the row was written with.
 */
export async function openRun(
  db: Db,
  sensitivity: Sensitivity | undefined,
  execution: Execution,
  rows: readonly StepRow[],
): Promise<OpenedRun> {
  const stored = toRecord(execution, rows)
  if (sensitivity === undefined) return { record: stored, values: [] }
  const values = await listSensitiveValues(db, execution.id)
  if (!isWhole(stored, values)) {
    throw new ServiceError('SENSITIVE_VALUE_LOST', { executionId: execution.id })
  }
  const record = openRecord(stored, values)
  const vault = new Vault(sensitivity, values)
  vault.learnStart(record.start)
  vault.learnRows(record.rows)
  return { record, values, vault }
}

/** Whether every value that a record names as stored apart is there, and is the one that it names. */
export function isWhole(
  { start, rows, end }: ExecutionRecord,
  values: readonly SensitiveValue[],
): boolean {
  const parts = [start.input, ...rows.flatMap((row) => [row.input, row.output])]
  return isIntact([...parts, end?.result ?? null], values)
}
