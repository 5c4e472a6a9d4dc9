import {
  type CarryOver,
  type Member,
  mapTexts,
  nameTable,
  type Path,
  readMembers,
  writeMembers,
} from './carry-over.ts'
import { isJsonObject, type Json } from './json.ts'
import { nearestName } from './nearest-name.ts'
import { stepKinds } from './step.ts'
import { stepShapes } from './step-fields.ts'
import { expectation } from './zod-problems.ts'

const names = nameTable(
  ['sequence', ...stepKinds.flatMap((kind) => Object.keys(stepShapes[kind].shape))],
  { parameters: 'with', errorhandling: 'errorHandling', timeoutseconds: 'timeoutSeconds' },
)

const known = new Set(names.values())

/** A list of steps of another notation as the steps of a definition. `isTool` knows the tools of this service. */
export function importSteps(
  { value, path }: Member,
  isTool: (name: string) => boolean,
  carry: CarryOver,
): Json {
  if (!Array.isArray(value)) return value
  const list: readonly Json[] = value
  const steps = list.map((step, index) =>
    isJsonObject(step) ? readMembers(step, [...path, index], names, carry) : undefined,
  )
  const keys = keysOf(steps)
  return list.map((step, index) => {
    const members = steps[index]
    const [to, from] = [
      ['steps', index],
      [...path, index],
    ]
    carry.trace(to, from)
    if (members === undefined) return step
    const key = keys[index]
    if (key !== undefined && !members.has('key')) members.set('key', { value: key, path: from })
    importArguments(members, keys, carry)
    if (isActionAlone(members)) {
      becomeAsk(members, from, isTool, carry)
    } else {
      importTimeout(members, carry)
      importErrorHandling(members, carry)
    }
    return writeMembers(inOrder(members), to, carry)
  })
}

/** Whether a step has no kind, not even a misspelt one, which the parser tells. */
function isActionAlone(members: ReadonlyMap<string, Member>): boolean {
  const isKind = (field: string): boolean => stepKinds.some((kind) => kind === field)
  return [...members.keys()].every(
    (field) => !isKind(field) && (known.has(field) || nearestName(field, stepKinds) === undefined),
  )
}

/** Key and action first, as people write a step; the rest as it came. */
function inOrder(members: ReadonlyMap<string, Member>): ReadonlyMap<string, Member> {
  const first = ['key', 'action', 'tool'].flatMap((field) => {
    const member = members.get(field)
    return member === undefined ? [] : [[field, member] as const]
  })
  return new Map([...first, ...members])
}

/** A key for each step: its own, else one made from its action or tool, else from its place. */
function keysOf(
  steps: readonly (ReadonlyMap<string, Member> | undefined)[],
): readonly (string | undefined)[] {
  const textOf = (step: ReadonlyMap<string, Member> | undefined, field: string) => {
    const value = step?.get(field)?.value
    return typeof value === 'string' ? value : undefined
  }
  const taken = new Set(steps.flatMap((step) => textOf(step, 'key') ?? []))
  return steps.map((step, index) => {
    const own = textOf(step, 'key')
    if (step === undefined || own !== undefined) return own
    const made =
      keyFrom(textOf(step, 'action') ?? textOf(step, 'tool') ?? '') || `step_${index + 1}`
    let key = made
    for (let count = 2; taken.has(key); count += 1) key = `${made.slice(0, 60)}_${count}`
    taken.add(key)
    return key
  })
}

function keyFrom(text: string): string {
  const words = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
  return words
    .replace(/^[^a-z]+/, '')
    .slice(0, 64)
    .replace(/_+$/, '')
}

const resultReference = /\{\{\s*step\.(\d{1,9})\.result\b/g

/** Turns `{{step.N.result}}`, counted from 0, into what the step of that place is called. */
function importArguments(
  members: Map<string, Member>,
  keys: readonly (string | undefined)[],
  carry: CarryOver,
): void {
  const given = members.get('with')
  if (given === undefined) return
  const value = mapTexts(given.value, given.path, (text, path) =>
    text.replaceAll(resultReference, (reference, place: string) => {
      const key = keys[Number(place)]
      if (key !== undefined) return `{{steps.${key}.output`
      const message = `reads step ${place}, and the steps are counted from 0 to ${keys.length - 1}; correct the number`
      carry.refuse(path, message)
      return reference
    }),
  )
  members.set('with', { ...given, value })
}

/** A step of which only its action is known is done by a person, who says what came of it. */
function becomeAsk(
  members: Map<string, Member>,
  path: Path,
  isTool: (name: string) => boolean,
  carry: CarryOver,
): void {
  const action = members.get('action')?.value
  if (typeof action !== 'string') return
  const given = members.get('with')
  if (given !== undefined && !isJsonObject(given.value)) {
    carry.refuse(given.path, expectation(given.value, 'an object of parameters'))
  }
  const message = messageOf(action, given?.value)
  const expected = members.get('expectedOutput')?.value
  const description = typeof expected === 'string' ? expected : 'What came of it'
  members.set('ask', { value: 'agent', path })
  members.set('message', { value: message, path })
  members.set('answer', { value: { type: 'string', description }, path })
  members.delete('with')
  const inWords = message === action ? '' : '; its parameters stand in the question'
  const hint = isTool(action)
    ? `. '${action}' is a tool here: add tool: ${action} to have it called`
    : ''
  carry.note(
    path,
    `names no tool, so an agent is asked to do it and to answer with a text${inWords}${hint}`,
  )
  leaveOut(
    members,
    'timeoutSeconds',
    carry,
    'is for the call of a tool, and a person is asked; left out, set a deadline',
  )
  const handling = members.get('errorHandling')
  if (handling === undefined) return
  const meant = handlingOf(handling, carry)
  if (meant === 'fail' || meant === undefined) members.delete('errorHandling')
  else {
    const why = 'is for the call of a tool, and a person is asked; left out'
    leaveOut(members, 'errorHandling', carry, why)
  }
}

function messageOf(action: string, given: Json | undefined): string {
  if (!isJsonObject(given)) return action
  const lines = Object.entries(given).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return [action, ...lines].join('\n')
}

function leaveOut(
  members: Map<string, Member>,
  field: string,
  carry: CarryOver,
  message: string,
): void {
  const member = members.get(field)
  if (member === undefined) return
  carry.note(member.path, message)
  members.delete(field)
}

function importTimeout(members: Map<string, Member>, carry: CarryOver): void {
  const given = members.get('timeoutSeconds')
  if (given === undefined) return
  members.delete('timeoutSeconds')
  if (typeof given.value !== 'number') {
    carry.refuse(given.path, expectation(given.value, 'a number of seconds'))
    return
  }
  const seconds = Math.ceil(given.value)
  if (seconds !== given.value) {
    carry.note(given.path, `durations are whole seconds, so ${given.value} became ${seconds}s`)
  }
  put(members, 'timeout', { ...given, value: `${seconds}s` }, carry)
}

const errorHandlings = ['fail', 'skip', 'retry'] as const

function handlingOf(
  { value, path }: Member,
  carry: CarryOver,
): (typeof errorHandlings)[number] | undefined {
  const word = typeof value === 'string' ? value.toLowerCase() : ''
  const handling = errorHandlings.find((one) => one === word)
  if (handling === undefined) carry.refuse(path, expectation(value, 'one of fail, skip or retry'))
  return handling
}

/** What follows a call that failed: the run is handed over (`fail`), goes on, or calls once more at once. */
function importErrorHandling(members: Map<string, Member>, carry: CarryOver): void {
  const given = members.get('errorHandling')
  if (given === undefined) return
  members.delete('errorHandling')
  const handling = handlingOf(given, carry)
  if (handling === 'skip') {
    // That it is required and may be passed over cannot both be meant; the parser says so.
    if (!members.has('required')) members.set('required', { ...given, value: false })
    put(members, 'onError', { ...given, value: 'continue' }, carry)
  } else if (handling === 'retry') {
    put(members, 'retry', { ...given, value: { maxAttempts: 2, delay: '0s' } }, carry)
  }
}

function put(members: Map<string, Member>, field: string, member: Member, carry: CarryOver): void {
  if (members.has(field))
    carry.refuse(member.path, `says what '${field}' says; keep one of the two`)
  else members.set(field, member)
}
