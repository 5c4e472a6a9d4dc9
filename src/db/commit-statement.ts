import type { Commit, LimitChange } from '../executor/ports.ts'
import type { HotStatement } from './hot-statement.ts'
import { sensitiveColumns } from './queries/sensitive-values.ts'

/** The columns that a new step row is written with, and what its parameters are cast to. */
const stepColumns = [
  ['ordinal', 'int'],
  ['step_key', 'text'],
  ['iteration', 'text'],
  ['kind', 'text'],
  ['status', 'text'],
  ['attempt', 'int'],
  ['tool', 'text'],
  ['input', 'jsonb'],
  ['output', 'jsonb'],
  ['error', 'jsonb'],
  ['attempts', 'jsonb'],
  ['started_at', 'timestamptz'],
  ['ended_at', 'timestamptz'],
] as const

export type StepColumn = (typeof changedStepColumns)[number][0]

/** A row that is changed may have waited, and heard something. */
const changedStepColumns = [...stepColumns, ['exchange', 'jsonb']] as const

const columnNames = stepColumns.map(([name]) => name).join(', ')
const changedColumns = [
  'status',
  'attempt',
  'output',
  'error',
  'attempts',
  'ended_at',
  'exchange',
] as const

/** Up to so many rows travel as plain parameters, which cost the server a third less than one JSON text. */
const maxPlainRows = 8

/** How a list of rows travels: a number of rows of plain parameters, or all in one JSON parameter. */
export type RowsForm = number | 'json'

export function formOf(rows: readonly unknown[]): RowsForm {
  return rows.length > maxPlainRows ? 'json' : rows.length
}

/** What a commit does to the execution besides counting its revision up. */
type Ending = 'go' | 'leave' | 'wait' | 'pause' | 'end' | 'escalate'

/** What makes two commits the same statement. */
interface Shape {
  readonly ending: Ending
  readonly added: RowsForm
  readonly changed: RowsForm
  readonly hasIntent: boolean
  readonly limits: LimitChange['kind'] | 'none'
  /** Whether some of it is stored apart. */
  readonly isSealed: boolean
}

/** The statements of one shape, made once, so that they stay prepared under their names. */
export interface CommitStatements {
  /** Writes nothing when the claim is lost, or when the execution is to be paused or cancelled; answers no rows. */
  readonly quick: HotStatement
  /** Writes nothing when the claim is lost; answers what is wanted of the execution, and leaves an intent out then. */
  readonly heedful: HotStatement
}

const known = new Map<number, CommitStatements>()

export function statementsFor(commit: Commit): CommitStatements {
  const { added, changed, end, leave, intent, limits, sensitive } = commit
  const shape: Shape = {
    ending: endingOf(end, leave),
    added: formOf(added),
    changed: formOf(changed),
    hasIntent: intent !== undefined,
    limits: limits === undefined ? 'none' : limits.kind,
    isSealed: sensitive !== undefined,
  }
  const number = numberOf(shape)
  const found = known.get(number)
  if (found !== undefined) return found
  const suffix = shape.limits === 'none' ? '' : `_${shape.limits}`
  const sealed = shape.isSealed ? '_sealed' : ''
  const name = `${shape.ending}_${shape.added}_${shape.changed}${suffix}${sealed}`
  const parameters = new Parameters()
  const made = {
    quick: {
      name: `commit_${name}`,
      text: quickText(shape, parameters),
      contends: shape.limits !== 'none',
    },
    heedful: {
      name: `heed_${name}${shape.hasIntent ? '_intent' : ''}`,
      text: heedfulText(shape, parameters.count),
    },
  }
  known.set(number, made)
  return made
}

const limitKinds = ['none', 'count', 'giveBack'] as const
const endings = ['go', 'leave', 'wait', 'pause', 'end', 'escalate'] as const

/** Tells shapes apart without making a text of each. */
function numberOf({ ending, added, changed, hasIntent, limits, isSealed }: Shape): number {
  const digit = (form: RowsForm): number => (form === 'json' ? maxPlainRows + 1 : form)
  const base = maxPlainRows + 2
  const rows = digit(added) * base + digit(changed)
  const ended = rows * endings.length + endings.indexOf(ending)
  const limited = ended * limitKinds.length + limitKinds.indexOf(limits)
  return (limited * 2 + (hasIntent ? 1 : 0)) * 2 + (isSealed ? 1 : 0)
}

function endingOf(end: Commit['end'], leave: Commit['leave']): Ending {
  if (end !== undefined) return end.status === 'escalated' ? 'escalate' : 'end'
  if (leave === undefined) return 'go'
  return ({ running: 'leave', waiting: 'wait', paused: 'pause' } as const)[leave.status]
}

/** Numbers parameters in the order in which they are asked for, after the claim's three. */
class Parameters {
  count = 3

  next(type: string): string {
    this.count += 1
    return `$${this.count}::${type}`
  }
}

/** The last part is the statement itself: a twentieth cheaper than one that only gathers what its parts have done. */
function quickText(shape: Shape, parameters: Parameters): string {
  const unflagged = ' AND cancel_requested_at IS NULL AND pause_requested_at IS NULL'
  const update = updateExecution(shape.ending, parameters, unflagged)
  const further = furtherParts(shape, parameters)
  const last = further.at(-1)
  if (last === undefined) return update
  const parts = [
    `e AS (${update} RETURNING revision, reason, ticket, ended_at)`,
    ...further.slice(0, -1).map(asPart),
  ]
  // What is there already is not written again, so what is stored apart tells nothing of the commit by its count.
  if (shape.isSealed) return `WITH ${[...parts, asPart(last)].join(',\n')}\nSELECT FROM e`
  return `WITH ${parts.join(',\n')}\n${last.text}`
}

/** Takes what the quick one takes and then, with an intent, its ordinal and whether it is made despite a cancellation. */
function heedfulText(shape: Shape, quickParameterCount: number): string {
  const parameters = new Parameters()
  const flags = 'cancel_requested_at, pause_requested_at'
  const update = updateExecution(shape.ending, parameters, '')
  // An intent is not written once somebody wants the run to stop, so that none is there of a call that is never made.
  const goesOn = `(e.pause_requested_at IS NULL
    AND ($${quickParameterCount + 2}::boolean OR e.cancel_requested_at IS NULL))`
  const mayBegin = `(r.ordinal <> $${quickParameterCount + 1}::int OR ${goesOn})`
  const parts = [
    `e AS (${update} RETURNING revision, reason, ticket, ended_at, ${flags})`,
    ...furtherParts(shape, parameters, shape.hasIntent ? { mayBegin, goesOn } : undefined).map(
      asPart,
    ),
  ]
  return `WITH ${parts.join(',\n')}\nSELECT ${flags} FROM e`
}

/** A statement that selects from the updated execution, so that it writes only if that did. */
interface Part {
  readonly name: string
  readonly text: string
}

function asPart({ name, text }: Part): string {
  return `${name} AS (${text})`
}

function updateExecution(ending: Ending, parameters: Parameters, condition: string): string {
  const next = (type: string) => parameters.next(type)
  const leave = () =>
    `, worker_id = NULL, status = ${next('text')}, wake_at = ${next('timestamptz')}`
  // A time that is there already was set by a run that was called and has ended meanwhile. What is due by the database's
  // clock, and not by that of the worker, rests for a moment: it would be claimed and left again and again.
  const wait = () => {
    const [status, until] = [next('text'), next('timestamptz')]
    const rest = `CASE WHEN ${until} <= clock_timestamp() THEN clock_timestamp() + interval '1 second' ELSE ${until} END`
    return `, worker_id = NULL, status = ${status}, wake_at = least(wake_at, ${rest})`
  }
  const set = {
    go: () => '',
    leave,
    wait,
    pause: leave,
    end: () =>
      `, worker_id = NULL, status = ${next('text')}, outcome = ${next('text')}, reason = ${next('jsonb')},
        result = ${next('jsonb')}, conditions = ${next('jsonb')}, ended_at = ${next('timestamptz')}`,
  }[ending === 'escalate' ? 'end' : ending]()
  // Nothing pauses an execution that was resumed in the meantime, and none that is to be paused waits.
  const still = {
    pause: ' AND pause_requested_at IS NOT NULL',
    wait: ' AND pause_requested_at IS NULL',
  }[ending as string]
  return `UPDATE executions SET revision = revision + 1${set}
    WHERE tenant_id = $1 AND id = $2 AND fence = $3::bigint AND status = 'running'${condition}${still ?? ''}`
}

/** What must hold of an intent to be written: of each row `r`, and of the execution `e` alone. */
interface IntentConditions {
  readonly mayBegin: string
  readonly goesOn: string
}

/** What is written besides the execution; of the intent and what it uses only where the conditions are met. */
function furtherParts(
  { ending, added, changed, limits, isSealed }: Shape,
  parameters: Parameters,
  conditions?: IntentConditions,
): readonly Part[] {
  const parts: Part[] = []
  const condition = conditions?.mayBegin
  if (ending === 'escalate') parts.push({ name: 'x', text: insertEscalation(parameters) })
  if (limits === 'count') {
    parts.push({ name: 'l', text: countUses(parameters, conditions?.goesOn ?? 'true') })
  }
  if (limits === 'giveBack') {
    parts.push({ name: 'g', text: lockCounters(parameters) }, { name: 'l', text: giveUsesBack })
  }
  if (changed !== 0) {
    const set = changedColumns.map((column) => `${column} = r.${column}`).join(', ')
    const text = `UPDATE step_executions s SET ${set}, revision = e.revision
      FROM e CROSS JOIN ${rowsOf(changed, changedStepColumns, parameters)}
      WHERE s.tenant_id = $1 AND s.execution_id = $2 AND s.ordinal = r.ordinal AND ${condition ?? 'true'}`
    parts.push({ name: 'c', text })
  }
  if (added !== 0) {
    const insert = `INSERT INTO step_executions (tenant_id, execution_id, ${columnNames}, revision)`
    // One row needs no list to be read from, which saves the server a twentieth.
    const text =
      added === 1 && condition === undefined
        ? `${insert} SELECT $1, $2, ${rowOf(stepColumns, parameters)}, e.revision FROM e`
        : `${insert} SELECT $1, $2, r.*, e.revision
          FROM e CROSS JOIN ${rowsOf(added, stepColumns, parameters)} WHERE ${condition ?? 'true'}`
    parts.push({ name: 'a', text })
  }
  if (isSealed) parts.push({ name: 's', text: insertSensitive(parameters, condition) })
  return parts
}

function insertSensitive(parameters: Parameters, condition = 'true'): string {
  return `INSERT INTO sensitive_values (tenant_id, execution_id, ordinal, part, pointer, is_whole, digest, salt, value)
    SELECT $1, $2, r.*
    FROM e CROSS JOIN jsonb_to_recordset(${parameters.next('jsonb')}) AS r(${sensitiveColumns})
    WHERE ${condition} ON CONFLICT DO NOTHING`
}

function insertEscalation(parameters: Parameters): string {
  const next = () => parameters.next('text')
  return `INSERT INTO escalations (tenant_id, id, execution_id, reason, queue, priority, ticket, opened_at,
      assignee, status, assigned_at)
    SELECT $1, ${next()}, $2, e.reason, ${next()}, ${next()}, e.ticket, e.ended_at,
      a.name, CASE WHEN a.name IS NULL THEN 'open' ELSE 'assigned' END,
      CASE WHEN a.name IS NULL THEN NULL ELSE e.ended_at END
    FROM e CROSS JOIN (VALUES (${next()})) AS a(name)`
}

const counterColumns = 'tool, measure, scope, subject, period, starts_at'
const usesForm = `r(tool text, measure text, scope text, subject text, period text, starts_at timestamptz,
  amount numeric, at_most numeric)`

/**
 * Counts in the order of the counters' keys, so that two that count the same ones never wait for each other. What goes
 * beyond a limit violates the table's constraint, and with it the whole statement comes to nothing.
 */
function countUses(parameters: Parameters, condition: string): string {
  return `INSERT INTO limit_counters AS c (tenant_id, ${counterColumns}, used, at_most)
    SELECT $1, r.tool, r.measure, r.scope, r.subject, r.period, r.starts_at, r.amount, r.at_most
    FROM e CROSS JOIN jsonb_to_recordset(${parameters.next('jsonb')}) AS ${usesForm} WHERE ${condition}
    ORDER BY ${counterColumns}
    ON CONFLICT (tenant_id, ${counterColumns})
      DO UPDATE SET used = c.used + excluded.used, at_most = excluded.at_most`
}

function lockCounters(parameters: Parameters): string {
  return `SELECT ${counterColumns}, r.amount
    FROM e CROSS JOIN jsonb_to_recordset(${parameters.next('jsonb')}) AS ${usesForm}
      JOIN limit_counters c USING (${counterColumns})
    WHERE c.tenant_id = $1
    ORDER BY ${counterColumns}
    FOR NO KEY UPDATE OF c`
}

const giveUsesBack = `UPDATE limit_counters c SET used = greatest(c.used - g.amount, 0) FROM g
  WHERE c.tenant_id = $1 AND (c.tool, c.measure, c.scope, c.subject, c.period, c.starts_at)
    = (g.tool, g.measure, g.scope, g.subject, g.period, g.starts_at)`

/** Of the uses of one commit the first that has no room, and how much of its limit is used. */
export const findReached = `
  SELECT r.n, trim_scale(coalesce(c.used, 0))::text AS used
  FROM ROWS FROM (jsonb_to_recordset($2) AS (tool text, measure text, scope text, subject text, period text,
      starts_at timestamptz, amount numeric, at_most numeric)) WITH ORDINALITY AS
    r(tool, measure, scope, subject, period, starts_at, amount, at_most, n)
    LEFT JOIN limit_counters c ON c.tenant_id = $1
      AND (c.tool, c.measure, c.scope, c.subject, c.period, c.starts_at)
        = (r.tool, r.measure, r.scope, r.subject, r.period, r.starts_at)
  WHERE coalesce(c.used, 0) + r.amount > r.at_most
  ORDER BY r.n LIMIT 1`

type Columns = readonly (readonly [name: string, type: string])[]

function rowsOf(form: RowsForm, columns: Columns, parameters: Parameters): string {
  if (form === 'json') {
    const types = columns.map((column) => column.join(' ')).join(', ')
    return `jsonb_to_recordset(${parameters.next('jsonb')}) AS r(${types})`
  }
  const rows = Array.from({ length: form }, () => `(${rowOf(columns, parameters)})`)
  return `(VALUES ${rows.join(', ')}) AS r(${columns.map(([name]) => name).join(', ')})`
}

function rowOf(columns: Columns, parameters: Parameters): string {
  return columns.map(([, type]) => parameters.next(type)).join(', ')
}
