import { isJsonObject, type Json } from '../domain/json.ts'
import type { Change, Place } from './change.ts'

/** Changes of one step, scenario or tool, or of the definition outside its steps. */
export interface ChangeGroup {
  readonly of: Change['of']
  readonly name: string | null
  readonly changes: readonly Change[]
}

/** The changes by what they are part of, in their order. */
export function groupChanges(changes: readonly Change[]): readonly ChangeGroup[] {
  const groups = new Map<string, { of: Change['of']; name: string | null; changes: Change[] }>()
  for (const change of changes) {
    const { of, name } = change
    const sign = `${of} ${name ?? ''}`
    const group = groups.get(sign)
    if (group === undefined) groups.set(sign, { of, name, changes: [change] })
    else group.changes.push(change)
  }
  return [...groups.values()]
}

/** Sets a name or a text of a playbook off from the words around it. */
export type Quote = (text: string) => string

/** What was done, up to the values: `added in rounds (step 2)`, `changed retry.maxAttempts`. */
export function actText(change: Change, quote: Quote): string {
  const { kind, of, field, before, beforePlace, afterPlace, follows } = change
  const unit = field === '' ? 'step' : 'branch'
  const what = field === '' ? '' : quote(field)
  const subject = (beforePlace ?? afterPlace) !== undefined && field !== '' ? 'a branch' : what
  const lead = subject === '' ? kind : `${kind} ${subject}`
  if (kind === 'moved') {
    const from = beforePlace ?? placeInList(change.beforePath)
    const to = afterPlace ?? placeInList(change.afterPath)
    return `${lead} ${moveText(from, to, beforePlace === undefined ? 'place' : unit, quote)}`
  }
  if (kind === 'renamed') {
    const from = typeof before === 'string' ? quote(before) : ''
    return `${lead} from ${from}${follows === true ? ', as its step is' : ''}`
  }
  if (of === 'tool' && field === '') return kind === 'added' ? 'pinned now' : 'no longer pinned'
  const place = kind === 'removed' ? beforePlace : afterPlace
  if (place !== undefined) {
    const where = kind === 'removed' ? `from ${listText(place, quote)}` : atText(place, quote)
    return `${lead} ${where} (${unit} ${place.position})`
  }
  return follows === true ? `${lead}, as the step is named now` : lead
}

function moveText(from: Place, to: Place, unit: string, quote: Quote): string {
  if (from.step === to.step && from.branch === to.branch) {
    const where = unit === 'place' ? '' : ` ${atText(to, quote)}`
    return `from ${unit} ${from.position} to ${to.position}${where}`
  }
  const whole = (place: Place) => `${listText(place, quote)} (${unit} ${place.position})`
  return `from ${whole(from)} to ${whole(to)}`
}

/** Of an item of a list, or a scenario: its position there. */
function placeInList(path: string | null): Place {
  const index = Number(/\[(\d+)\]$/.exec(path ?? '')?.[1] ?? 0)
  return { step: null, branch: null, position: index + 1 }
}

function atText(place: Place, quote: Quote): string {
  return `${place.step === null ? 'at' : 'in'} ${listText(place, quote)}`
}

function listText({ step, branch }: Place, quote: Quote): string {
  if (step === null) return 'the top'
  if (branch === null) return quote(step)
  return `${quote(step)}, ${branch === 'otherwise' ? branch : `branch ${quote(branch)}`}`
}

/** Of a contract, what a person decides by; the rest is in the change. */
const shownOfContract = ['effect', 'idempotent', 'requires', 'description']

/** What stands in a step, branch, scenario or contract that was added or removed, by its fields; undefined for all else. */
export function wholeMembers(
  change: Change,
): readonly (readonly [name: string, value: Json])[] | undefined {
  const { kind, of, field, before, after, beforePlace, afterPlace } = change
  if (kind !== 'added' && kind !== 'removed') return undefined
  const whole = after ?? before
  const isPart = field === '' || (beforePlace ?? afterPlace) !== undefined
  if (!isPart || !isJsonObject(whole)) return undefined
  // The key or name is what the group is called.
  return Object.entries(whole).filter(([name]) =>
    of === 'tool' ? shownOfContract.includes(name) : name !== 'key' && name !== 'name',
  )
}

const longest = 2_000

/** A value for people: a text as it is, anything else as JSON. What is longer than 2,000 characters is cut. */
export function shownValue(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= longest) return text
  return `${text.slice(0, longest).toWellFormed()}… (${text.length} characters)`
}

/** `3 changes`. */
export function countChanges(changes: readonly Change[]): string {
  return `${changes.length} change${changes.length === 1 ? '' : 's'}`
}
