import { type DateForm, readForm } from './date-form.ts'
import { checkLength } from './limits.ts'
import { type Calendar, findInstant } from './time.ts'
import {
  anyType,
  booleanType,
  listType,
  membersOf,
  numberType,
  stringType,
  type Type,
  timestampType,
  typeWords,
  unionOf,
} from './type.ts'
import {
  type Budget,
  Fault,
  Instant,
  isList,
  isMap,
  kindOf,
  type Value,
  type ValueMap,
  wordsOf,
} from './value.ts'

/** What a running expression gives the functions that it calls. */
export interface Call extends Budget {
  readonly calendar: Calendar
}

/** What a function accepts in one place: a type for the check, and a reader for the value at run time. */
export interface Parameter<T> {
  readonly type: Type
  /** What is expected, for messages; default the type in words. */
  readonly words?: string
  /** What is wrong with a text that is written out, which this then must be; undefined when nothing is. */
  readonly flaw?: (text: string) => string | undefined
  /** The value as the function takes it; `undefined` when it does not. */
  readonly read: (value: Value) => T | undefined
}

/** One function of the library, for one number of arguments. `a.f(b)` and `f(a, b)` are the same call. */
export interface LibraryFunction {
  readonly name: string
  /** For each argument. */
  readonly parameters: readonly Parameter<unknown>[]
  /** True when the last parameter may be given more than once. */
  readonly variadic: boolean
  readonly resultType: (args: readonly Type[]) => Type
  readonly run: (args: readonly Value[], call: Call) => Value
}

export const text: Parameter<string> = {
  type: stringType,
  read: (value) => (typeof value === 'string' ? value : undefined),
}

export const number: Parameter<number> = {
  type: numberType,
  read: (value) => (typeof value === 'number' ? value : undefined),
}

export const whole: Parameter<number> = {
  type: numberType,
  words: 'a whole number',
  read: (value) => (typeof value === 'number' && Number.isInteger(value) ? value : undefined),
}

export const moment: Parameter<number> = {
  type: unionOf([timestampType, stringType]),
  words: 'a timestamp, or a text such as 2026-11-29T10:00:00Z or 2026-11-29 (see parseDate),',
  read: (value) => {
    if (value instanceof Instant) return value.at
    return typeof value === 'string' ? findInstant(value) : undefined
  },
}

/** How a date is written. Written out, so that it is known to be right before anything runs. */
export const dateForm: Parameter<DateForm> = {
  type: stringType,
  words: 'a form of dates such as DD.MM.YYYY',
  flaw: (form) => {
    const found = readForm(form)
    return typeof found === 'string' ? found : undefined
  },
  read: (value) => {
    const found = typeof value === 'string' ? readForm(value) : undefined
    return typeof found === 'object' ? found : undefined
  },
}

export const sized: Parameter<string | readonly Value[] | ValueMap> = {
  type: unionOf([
    stringType,
    listType(anyType),
    { kind: 'object', fields: new Map(), rest: anyType },
  ]),
  words: 'a text, a list or an object',
  read: (value) => (typeof value === 'string' || isList(value) || isMap(value) ? value : undefined),
}

export const scalar: Parameter<string | number | boolean | Instant> = {
  type: unionOf([stringType, numberType, booleanType, timestampType]),
  read: (value) => (value === null || isList(value) || isMap(value) ? undefined : value),
}

/** What can be told apart by itself: texts, numbers and booleans. */
export const plain: Parameter<string | number | boolean> = {
  type: unionOf([stringType, numberType, booleanType]),
  read: (value) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? value
      : undefined,
}

/** What has an order: numbers, texts and timestamps. */
export const sortable: Parameter<string | number | Instant> = {
  type: unionOf([stringType, numberType, timestampType]),
  read: (value) =>
    typeof value === 'string' || typeof value === 'number' || value instanceof Instant
      ? value
      : undefined,
}

export function listOf<T>(item: Parameter<T>, words: string): Parameter<readonly T[]> {
  return {
    type: listType(item.type),
    words,
    read: (value) => {
      if (!isList(value)) return undefined
      checkLength(value.length)
      const items: T[] = []
      for (const member of value) {
        const read = item.read(member)
        if (read === undefined) return undefined
        items.push(read)
      }
      return items
    },
  }
}

/** The result type that says: what the first argument is. */
export function sameType(args: readonly Type[]): Type {
  return args[0] ?? anyType
}

/** The result type that says: an item of the first argument. */
export function itemType(args: readonly Type[]): Type {
  const list = sameType(args)
  return list.kind === 'list' ? list.of : anyType
}

type Result = Type | ((args: readonly Type[]) => Type)

/** Defines a function of one argument. */
export function one<A>(
  name: string,
  a: Parameter<A>,
  result: Result,
  run: (a: A, call: Call) => Value,
): LibraryFunction {
  return define(name, [a], result, (args, call) => run(take(name, a, args, 0), call))
}

/** Defines a function of two arguments. */
export function two<A, B>(
  name: string,
  a: Parameter<A>,
  b: Parameter<B>,
  result: Result,
  run: (a: A, b: B, call: Call) => Value,
): LibraryFunction {
  return define(name, [a, b], result, (args, call) =>
    run(take(name, a, args, 0), take(name, b, args, 1), call),
  )
}

/** Defines a function of three arguments. */
export function three<A, B, C>(
  name: string,
  a: Parameter<A>,
  b: Parameter<B>,
  c: Parameter<C>,
  result: Result,
  run: (a: A, b: B, c: C, call: Call) => Value,
): LibraryFunction {
  return define(name, [a, b, c], result, (args, call) =>
    run(take(name, a, args, 0), take(name, b, args, 1), take(name, c, args, 2), call),
  )
}

/** Defines a function of two or more arguments of one sort. */
export function many<A>(
  name: string,
  a: Parameter<A>,
  result: Result,
  run: (args: readonly A[], call: Call) => Value,
): LibraryFunction {
  const some = define(name, [a, a], result, (args, call) =>
    run(
      args.map((_, place) => take(name, a, args, place)),
      call,
    ),
  )
  return { ...some, variadic: true }
}

function define(
  name: string,
  parameters: readonly Parameter<unknown>[],
  result: Result,
  run: LibraryFunction['run'],
): LibraryFunction {
  const resultType = typeof result === 'function' ? result : () => result
  return { name, parameters, variadic: false, resultType, run }
}

function take<T>(name: string, parameter: Parameter<T>, args: readonly Value[], place: number): T {
  const value = args[place] ?? null
  const taken = parameter.read(value)
  if (taken !== undefined) return taken
  const expected = parameter.words ?? typeWords(parameter.type)
  const argument = args.length === 1 ? 'its argument' : `argument ${place + 1}`
  // A value of an expected kind is wrong by what it holds, which is not shown.
  const isRightKind = membersOf(parameter.type).some(({ kind }) => kind === kindOf(value))
  const found = isRightKind ? wordsOf(value).replace(/^an? /, 'another ') : wordsOf(value)
  throw new Fault(`${name}() expects ${expected} as ${argument}; found ${found}`)
}
