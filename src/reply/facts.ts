import { canonicalJson } from '../domain/canonical.ts'
import { decimalText } from '../domain/expression/decimal.ts'
import type { Path } from '../domain/expression.ts'
import { isJsonObject, type Json, type JsonSchema } from '../domain/json.ts'
import { pathText } from '../domain/problem.ts'
import { scalarsOf } from '../domain/scalars.ts'
import type { ToolEffect } from '../domain/tool.ts'
import { type FactKind, kindOf, thingOf } from './fact-kind.ts'
import { type FactLabel, labelOf } from './fact-label.ts'

/** What a run recorded in one place: its validated input, or the output of a call of a tool that completed. */
export interface RecordedValue {
  readonly value: Json
  readonly schema: JsonSchema
  /** Null for the input. */
  readonly call: RecordedCall | null
}

export interface RecordedCall {
  readonly stepKey: string
  readonly tool: string
  readonly effect: ToolEffect
  readonly input: Json
  /** State words of the output that the tool lets a reply name. */
  readonly states: readonly string[]
  /** Whether the run called the tool about something else as well, whatever came of it. */
  readonly isOneOfSeveral: boolean
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
  /** What the model must call it: the words of its label, and its unit. */
  readonly name: string
  readonly label: FactLabel
  /** What an id is the id of: "transaction". Null for what is no id. */
  readonly thing: readonly string[] | null
  /** Marks of the id that its call was made with: "the refund state for your transaction [[f1]] is …". */
  readonly places: readonly string[]
  /** Whether it may be shown only with such an id, since the run is about more than one. */
  readonly mustBePlaced: boolean
}

/** A place of the record that no reply may show, and what is in it, for support agents. */
export interface Unsayable {
  readonly path: Path
  readonly why: string
}

const maxFacts = 100

/**
 * Numbers the values that a reply may name in a sentence, in the order of the record: values of a closed kind, whose
 * place in the record gives them a name. Of the input only ids are facts: what else came in is what somebody said.
 *
 * A name leads to one value. Of two equal calls of a tool the later one counts. Calls of one tool about different things
 * are told apart by the id; where two values have one name for another reason, neither is a fact.
 */
export function numberFacts(
  recorded: readonly RecordedValue[],
  unsayable: readonly Unsayable[],
): readonly Fact[] {
  const named = standing(recorded.flatMap((part) => namedValues(part, unsayable)))
  const ids = new Set(recorded.flatMap(({ call, ...input }) => (call === null ? idsOf(input) : [])))
  const marked = named.map((value, index) => ({
    ...value,
    mark: `f${index + 1}`,
    mustBePlaced: value.part.call !== null && (value.part.call.isOneOfSeveral || ids.size > 1),
  }))
  const placing = groupBy(
    marked.filter(({ kind, mustBePlaced }) => kind === 'id' && !mustBePlaced),
    ({ text }) => text,
  )
  return marked
    .map(({ part: { call }, path, value, text, label, name, kind, ...place }): Fact => {
      const about = call === null ? undefined : onlyValue(call.input)
      return {
        ...place,
        path,
        value,
        text,
        stepKey: call?.stepKey ?? null,
        name,
        label,
        thing: kind === 'id' ? thingOf(label.words) : null,
        places: (about === undefined ? [] : (placing.get(about) ?? [])).map(({ mark }) => mark),
      }
    })
    .filter(({ mustBePlaced, places }) => !mustBePlaced || places.length > 0)
    .slice(0, maxFacts)
}

/** Whether one path leads to the other or into it. */
export function overlap(a: Path, b: Path): boolean {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a]
  return shorter.every((link, index) => longer[index] === link)
}

/** All ids that came in, those included that have no name to be shown by. */
function idsOf({ value, schema }: Omit<RecordedValue, 'call'>): readonly string[] {
  return scalarsOf(value, schema).flatMap((scalar) =>
    kindOf(scalar.value, scalar.path, schema) === 'id' ? [String(scalar.value)] : [],
  )
}

/** Where a recorded value stands in the record. */
function rootOf({ call }: Pick<RecordedValue, 'call'>): Path {
  return call === null ? ['input'] : ['steps', call.stepKey, 'output']
}

interface NamedValue {
  readonly part: RecordedValue
  readonly path: string
  readonly value: string | number
  readonly text: string
  readonly kind: FactKind
  readonly label: FactLabel
  readonly name: string
  /** Equal for one place in the outputs of equal calls: the same value at two times. */
  readonly source: string
}

function namedValues(part: RecordedValue, unsayable: readonly Unsayable[]): readonly NamedValue[] {
  const { call, schema } = part
  const tool = call && { name: call.tool, effect: call.effect }
  return scalarsOf(part.value, schema).flatMap(({ path, value, isSensitive, isDeclared }) => {
    const place: Path = [...rootOf(part), ...path]
    const kind = kindOf(value, path, schema)
    // A name that a tool or a customer chose is data and names nothing.
    if (isSensitive || !isDeclared || kind === undefined) return []
    if (call === null && kind !== 'id') return []
    if (kind === 'state' && !call?.states.includes(String(value))) return []
    if (unsayable.some((other) => overlap(place, other.path))) return []
    const label = labelOf(tool, path, typeof value === 'number')
    if (label === undefined || (typeof value !== 'number' && typeof value !== 'string')) return []
    const text = typeof value === 'number' ? decimalText(value) : value
    const source = canonicalJson(call === null ? [...path] : [call.tool, call.input, ...path])
    return [{ part, path: pathText(place), value, text, kind, label, name: nameOf(label), source }]
  })
}

/** Those that their name leads to, in their order. */
function standing(values: readonly NamedValue[]): readonly NamedValue[] {
  const latest = new Map(values.map((value) => [value.source, value]))
  const last = values.filter((value) => latest.get(value.source) === value)
  const byName = groupBy(last, ({ name }) => name)
  return last.filter((value) => {
    const rivals = byName.get(value.name) ?? []
    // Calls of one tool about different things: the sentence has to say which.
    if (rivals.every((rival) => isOfOtherCall(rival, value))) return true
    return rivals.every(({ text }) => text === value.text) && rivals.at(-1) === value
  })
}

function isOfOtherCall(rival: NamedValue, value: NamedValue): boolean {
  if (rival === value) return true
  const [a, b] = [rival.part.call, value.part.call]
  return a !== null && a.tool === b?.tool && onlyValue(a.input) !== onlyValue(b.input)
}

/** What a call was about, if it was made with one value and no other. */
function onlyValue(input: Json): string | undefined {
  const [value, ...others] = isJsonObject(input) ? Object.values(input) : []
  if (others.length > 0) return undefined
  if (typeof value === 'number') return decimalText(value)
  return typeof value === 'string' ? value : undefined
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

function nameOf({ words, unit }: FactLabel): string {
  return words.join(' ') + (unit.length === 0 ? '' : ` in ${unit.join(' ')}`)
}
