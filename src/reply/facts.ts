import { canonicalJson } from '../domain/canonical.ts'
import { decimalText } from '../domain/expression/decimal.ts'
import type { Json, JsonSchema } from '../domain/json.ts'
import { pathText } from '../domain/problem.ts'
import { scalarsOf } from '../domain/scalars.ts'
import { type FactLabel, labelOf } from './fact-label.ts'
import { withhold } from './withhold.ts'

/** What a run recorded in one place: its validated input, or the output of a step that completed. */
export interface RecordedValue {
  /** Null for the input. */
  readonly stepKey: string | null
  /** The tool's name, or else the step's key; empty for the input. */
  readonly subject: string
  readonly value: Json
  readonly schema: JsonSchema
  /** Declared states of the tool. */
  readonly states: readonly string[]
  /** What the tool was called with: two equal calls look at the same thing. Null where no tool was called. */
  readonly calledWith: Json | null
}

/** A value that a reply may show. */
export interface Fact {
  /** `f1`, `f2`, …: `[[f1]]` stands where the value is to be inserted. */
  readonly mark: string
  /** As a template writes it: `steps.check_refund.output.state`. */
  readonly path: string
  readonly value: string | number
  /** The value as it is inserted. */
  readonly text: string
  readonly stepKey: string | null
  /** What the model must call it: the words of its label, or its path. */
  readonly name: string
  /** How a sentence names it; null: it may stand in approved wording only. */
  readonly label: PlacedLabel | null
}

export interface PlacedLabel extends FactLabel {
  /** Words that must stand before the value; the other words of the label may. */
  readonly required: readonly string[]
  /** An id: `refund for transaction …` then names it too. */
  readonly isId: boolean
}

const maxFacts = 100
const maxTextLength = 100

/** Words of a label that say what form the value has, and not what it is. */
const formWords = new Set(['code', 'eta', 'id', 'number', 'value'])

/**
 * Numbers the values that a reply may show: short texts and numbers of one line, in the order of the record. Left out
 * are sensitive values and every text that holds one, yes and no, lists and long texts, and what looks like markup or a
 * link. `withheld` are the sensitive values of the run.
 *
 * A label must lead to one value. Of two equal calls of a tool the later one counts; where two values have one label
 * for another reason, neither may be named in free wording.
 */
export function numberFacts(
  recorded: readonly RecordedValue[],
  withheld: readonly Json[],
): readonly Fact[] {
  const states = new Set(
    recorded.flatMap((part) => part.states.map((state) => state.toLowerCase())),
  )
  const values = recorded.flatMap((part) => showableValues(part, states, withheld))
  const byLabel = groupBy(values, ({ label }) => label && nameOf(label))
  const named = values.map((value) => {
    const rivals = value.label === undefined ? [] : (byLabel.get(nameOf(value.label)) ?? [])
    return value === standing(rivals) ? value : { ...value, label: undefined }
  })
  const byShortName = groupBy(named, (value) => value.label && shortName(value, value.label))
  return named.slice(0, maxFacts).map((value, index): Fact => {
    const { label, part } = value
    const required = label && requiredWords(value, label)
    const isAlone = label && byShortName.get(shortName(value, label))?.length === 1
    return {
      mark: `f${index + 1}`,
      path: value.path,
      value: value.value,
      text: value.text,
      stepKey: part.stepKey,
      name: label === undefined ? value.path : nameOf(label),
      label:
        label === undefined || required === undefined
          ? null
          : { ...label, required: isAlone ? required : label.words, isId: isId(value.text) },
    }
  })
}

/** The sensitive values that a run recorded. */
export function sensitiveValues(recorded: readonly RecordedValue[]): readonly Json[] {
  return recorded.flatMap(({ value, schema }) =>
    scalarsOf(value, schema).flatMap((scalar) => (scalar.isSensitive ? [scalar.value] : [])),
  )
}

interface ShowableValue {
  readonly part: RecordedValue
  readonly path: string
  readonly value: string | number
  readonly text: string
  readonly label: FactLabel | undefined
}

function showableValues(
  part: RecordedValue,
  states: ReadonlySet<string>,
  withheld: readonly Json[],
): readonly ShowableValue[] {
  const root = part.stepKey === null ? ['input'] : ['steps', part.stepKey, 'output']
  return scalarsOf(part.value, part.schema).flatMap(({ path, value, isSensitive, isDeclared }) => {
    if (isSensitive || (typeof value !== 'string' && typeof value !== 'number')) return []
    const text = typeof value === 'number' ? decimalText(value) : value
    if (!isShowable(text) || withhold(text, withheld) !== text) return []
    // A name that a tool or a customer chose is data and names nothing, and prose of the input is the customer's.
    const mayBeNamed = isDeclared && (part.stepKey !== null || !text.includes(' '))
    const label = mayBeNamed
      ? labelOf(part.subject, path, typeof value === 'number', states)
      : undefined
    return [{ part, path: pathText([...root, ...path]), value, text, label }]
  })
}

/** One line of plain text. What a tool answers is data: it brings no markup and no link into a reply. */
function isShowable(text: string): boolean {
  return (
    text.length <= maxTextLength &&
    text.trim() === text &&
    /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u.test(text) &&
    !/[<>[\]{}`|\\]|:\/\/|www\.|[*_~]{2}/i.test(text)
  )
}

/**
 * Which of the values with one label it leads to: the first of equal ones, the last of those that look at the same
 * thing, and none of others.
 */
function standing(rivals: readonly ShowableValue[]): ShowableValue | undefined {
  const [first] = rivals
  const last = rivals.at(-1)
  if (first === undefined || last === undefined) return undefined
  if (rivals.every(({ text }) => text === last.text)) return first
  return rivals.every((rival) => looksAgain(rival.part, last.part)) ? last : undefined
}

/** Whether two tool calls were the same call: the later one then says how things are now. */
function looksAgain(earlier: RecordedValue, later: RecordedValue): boolean {
  if (earlier === later) return true
  if (earlier.calledWith === null || later.calledWith === null) return false
  return canonicalJson(earlier.calledWith) === canonicalJson(later.calledWith)
}

function requiredWords(value: ShowableValue, { words }: FactLabel): readonly string[] {
  const isFree = (word: string): boolean =>
    formWords.has(word) || (word === 'state' && isState(value))
  const required = words.filter((word) => !isFree(word))
  return required.length === 0 ? words : required
}

/** What a value is called when the words of its form are left out. Values of two kinds are never taken for each other. */
function shortName(value: ShowableValue, label: FactLabel): string {
  const kind = isState(value) ? 'state' : isId(value.text) ? 'id' : label.unit.join(' ')
  return `${requiredWords(value, label).join(' ')} (${kind})`
}

function isState({ part, text }: ShowableValue): boolean {
  return part.states.includes(text)
}

function isId(text: string): boolean {
  return /\d/.test(text) && /^[\p{L}\p{N}_-]+$/u.test(text)
}

function nameOf({ words, unit }: FactLabel): string {
  return words.join(' ') + (unit.length === 0 ? '' : ` in ${unit.join(' ')}`)
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined) {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
