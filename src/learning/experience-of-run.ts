import { canonicalJson } from '../domain/canonical.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import type { RecordRow, RunRows } from '../domain/record.ts'
import { withoutMarks } from '../domain/sensitive-value.ts'
import { type ActionStep, experienceLimits, numbered, type OutcomeType } from './experience.ts'
import { heuristicScore } from './experience-score.ts'
import { oneLine } from './experience-text.ts'

/** What a run has experienced. */
export interface RunExperience {
  readonly situation: string
  readonly actionSequence: readonly ActionStep[]
  readonly outcome: string
  readonly outcomeType: OutcomeType
  readonly score: number
  readonly tags: readonly string[]
  readonly customerId: string | null
}

/** What takes sensitive parts out, besides those that are stored apart. */
export interface Withholding {
  readonly text: (text: string) => string
  readonly value: (value: Json) => Json
}

/** Steps that do nothing about the situation. */
const idleKinds: ReadonlySet<string> = new Set(['wait', 'end'])

const summaryLength = 200
const inputTextLength = 300

/**
 * What a run that has ended is remembered by; undefined for one that was cancelled, in which nothing was done, and that
 * another run has called: that one tells of it. A run that resolved is a success, one that declined a partial one, one that
 * escalated a failure.
 */
export function experienceOfRun(
  { execution, steps, reply }: RunRows,
  withhold: Withholding,
): RunExperience | undefined {
  const outcomeType = outcomeTypeOf(execution)
  if (outcomeType === undefined || execution.parent_id !== null) return undefined
  const shown = (value: Json | undefined): Json => withhold.value(withoutMarks(value ?? null))
  const done = steps.filter(
    ({ status, kind }) => status === 'completed' && !idleKinds.has(String(kind)),
  )
  if (done.length === 0) return undefined
  const kept = done.slice(0, experienceLimits.actions)
  // Half of what a sequence may take; the rest is for names and summaries.
  const room = Math.floor(experienceLimits.sequenceBytes / 2 / kept.length)
  const actionSequence = numbered(
    kept.map((row) => ({
      tool: String(row.tool ?? row.kind),
      input: withinRoom(shown(row.input), room),
      outputSummary: summaryOf(shown(row.output), summaryLength),
    })),
  )
  const failedAttempts = steps.reduce((sum, { attempts }) => sum + lengthOf(attempts), 0)
  return {
    situation: situationOf(execution, shown),
    actionSequence,
    outcome: outcomeOf(execution, reply, withhold),
    outcomeType,
    score: heuristicScore(outcomeType, actionSequence, failedAttempts),
    tags: [String(execution.procedure_key)],
    customerId: execution.customer_id === null ? null : String(execution.customer_id),
  }
}

function outcomeTypeOf({ status, outcome }: RecordRow): OutcomeType | undefined {
  if (status === 'escalated') return 'failure'
  if (status !== 'completed') return undefined
  return outcome === 'resolved' ? 'success' : 'partial_success'
}

/** The ticket, else the playbook with its input. */
function situationOf(execution: RecordRow, shown: (value: Json | undefined) => Json): string {
  const { text } = Object(shown(execution.ticket))
  const words = typeof text === 'string' && /\S/.test(text) ? text : ''
  const named = `${execution.procedure_key}: ${summaryOf(shown(execution.input), inputTextLength)}`
  return cut(words === '' ? named.replace(/: $/, '') : words, experienceLimits.situation)
}

/** What was answered, else how it has ended; of what was escalated the code of the reason, never its text. */
function outcomeOf(execution: RecordRow, reply: RecordRow | null, { text }: Withholding): string {
  const end = execution.status === 'escalated' ? execution.reason_code : execution.outcome
  const answered = typeof reply?.text === 'string' ? oneLine(text(reply.text), 2_000) : ''
  const ended = execution.status === 'escalated' ? `escalated: ${end}` : String(end)
  if (answered === '') return ended
  return execution.status === 'escalated' ? `${answered} (${ended})` : answered
}

/** A value in a few words: `state: failed, amount: 49.00 USD`. */
function summaryOf(value: Json, maxLength: number): string {
  if (value === null) return ''
  if (!isJsonObject(value)) return oneLine(wordOf(value), maxLength)
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return oneLine(
    members.map(([name, member]) => `${name}: ${wordOf(member)}`).join(', '),
    maxLength,
  )
}

function wordOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A large input is remembered by its first words. */
function withinRoom(value: Json, room: number): Json {
  const text = canonicalJson(value)
  return Buffer.byteLength(text) <= room ? value : summaryOf(value, Math.min(room / 4, 2_000))
}

function lengthOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : 0
}

function cut(text: string, maxLength: number): string {
  const first = text.slice(0, maxLength)
  return first.isWellFormed() ? first : first.slice(0, -1)
}
