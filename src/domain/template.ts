import { ServiceError } from './errors.ts'
import { decimalText } from './expression/decimal.ts'
import { Room, toJson } from './expression/result.ts'
import { findValue, isRoot, type Path, roots, type Scope } from './expression/scope.ts'
import { suggestion } from './expression/suggestion.ts'
import { positionOf } from './expression/syntax.ts'
import { instantText } from './expression/time.ts'
import { Fault, Instant, isList, type Value, wordsOf } from './expression/value.ts'
import { isJsonObject, type Json, setMember, withoutPrototype } from './json.ts'
import { type Problem, pathText } from './problem.ts'

export { checkTemplate } from './expression/check-template.ts'

/** One `{{path}}` in a string. */
export interface Reference {
  readonly path: Path
  /** The path as it is written. */
  readonly text: string
  /** What stands in its place when the path leads to nothing: `{{path or "text"}}`. */
  readonly fallback?: string
  /** Offset of the path in its string. */
  readonly at: number
}

/** A string of a template, cut into what stands there as it is, and what is filled in. */
export interface TemplateString {
  /** Where the string stands in the template's value. */
  readonly place: readonly (string | number)[]
  readonly source: string
  readonly parts: readonly (string | Reference)[]
  /** The one reference that the string consists of: it keeps the type of its value. */
  readonly whole?: Reference
}

/** A JSON value with `{{path}}` references in its strings, parsed once. */
export interface Template {
  readonly value: Json
  /** All strings, in the order of the value; also those without a reference. Keys of objects are no templates. */
  readonly strings: readonly TemplateString[]
  /** All references, in the same order. */
  readonly reads: readonly Reference[]
  /** Keys of all steps that are read. */
  readonly steps: ReadonlySet<string>
  /**
   * The value with everything filled in. What is filled in is never read for `{{` again.
   *
   * @throws TemplateUnresolved for the first reference that leads to nothing and has no fallback, and when the result
   *   is longer than 1 MiB.
   */
  resolve(scope: Scope): Json
}

/** A reference that leads to nothing. The message is for support agents, and holds no value of the run. */
export class TemplateUnresolved extends Error {
  override readonly name = 'TemplateUnresolved'
  /** The path as it is written; empty when no single one is to blame. */
  readonly path: string

  constructor(path: string, reason: string) {
    super(path === '' ? reason : `{{${path}}} cannot be filled in: ${reason}`)
    this.path = path
  }
}

/** Parses all strings of a value, or gives all problems: `path` within the value, line and column within the string. */
export function parseTemplate(
  value: Json,
): { readonly template: Template } | { readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const strings: TemplateString[] = []
  const filler = parseValue(value, [], strings, problems)
  return problems.length > 0
    ? { problems }
    : { template: new ParsedTemplate(value, strings, filler) }
}

/**
 * Parses the template of a definition that has been checked.
 *
 * @throws ServiceError `TEMPLATE_INVALID` with all problems.
 */
export function compileTemplate(value: Json): Template {
  const parsed = parseTemplate(value)
  if ('template' in parsed) return parsed.template
  throw new ServiceError('TEMPLATE_INVALID', { problems: parsed.problems })
}

class ParsedTemplate implements Template {
  readonly value: Json
  readonly strings: readonly TemplateString[]
  readonly reads: readonly Reference[]
  readonly steps: ReadonlySet<string>
  readonly #fill: Filler

  constructor(value: Json, strings: readonly TemplateString[], fill: Filler) {
    this.value = value
    this.strings = strings
    this.#fill = fill
    this.reads = strings.flatMap(({ parts }) => parts.filter((part) => typeof part !== 'string'))
    this.steps = new Set(
      this.reads.flatMap(({ path: [root, key] }) => (root === 'steps' ? [`${key}`] : [])),
    )
  }

  resolve(scope: Scope): Json {
    try {
      return this.#fill(scope, new Room())
    } catch (error) {
      if (error instanceof Fault) throw new TemplateUnresolved('', error.message)
      throw error
    }
  }
}

/** Makes the value of one part of a template. */
type Filler = (scope: Scope, room: Room) => Json

function parseValue(
  value: Json,
  place: readonly (string | number)[],
  strings: TemplateString[],
  problems: Problem[],
): Filler {
  if (typeof value === 'string') {
    const string = parseString(value, place, problems)
    strings.push(string)
    return fillerOf(string)
  }
  if (isArray(value)) {
    const items = value.map((item, index) => parseValue(item, [...place, index], strings, problems))
    return (scope, room) => items.map((item) => item(scope, room))
  }
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(
      ([key, member]) => [key, parseValue(member, [...place, key], strings, problems)] as const,
    )
    return (scope, room) => {
      const result: Record<string, Json> = {}
      for (const [key, member] of members) setMember(result, key, member(scope, room))
      return withoutPrototype(result)
    }
  }
  return () => value
}

function parseString(
  source: string,
  place: readonly (string | number)[],
  problems: Problem[],
): TemplateString {
  const refuse = (at: number, message: string): void => {
    problems.push({ path: pathText(place), message, ...positionOf(source, at) })
  }
  const parts: (string | Reference)[] = []
  let done = 0
  for (;;) {
    const open = source.indexOf('{{', done)
    if (open < 0) break
    const close = findClose(source, open)
    if (close < 0) {
      refuse(open, "'{{' is never closed; write {{path}} (a text cannot contain '{{' itself)")
      break
    }
    if (open > done) parts.push(source.slice(done, open))
    const reference = parseReference(source.slice(open + 2, close), open + 2)
    if ('message' in reference) refuse(reference.at, reference.message)
    else parts.push(reference)
    done = close + 2
  }
  if (done < source.length) parts.push(source.slice(done))
  const [only] = parts
  const isWhole = parts.length === 1 && only !== undefined && typeof only !== 'string'
  return { place, source, parts, ...(isWhole && { whole: only }) }
}

/** The `}}` that ends a reference; one inside the quotes of a fallback is text. */
function findClose(source: string, open: number): number {
  let isQuoted = false
  for (let at = open + 2; at < source.length; at += 1) {
    if (source[at] === '"') isQuoted = !isQuoted
    else if (!isQuoted && source.startsWith('}}', at)) return at
  }
  return -1
}

/** A link of a path: a word, or the place of an item in a list. */
const linkPattern = /\.([A-Za-z_][A-Za-z0-9_-]*)|\[(0|[1-9][0-9]{0,8})\]/y

function parseReference(
  inside: string,
  start: number,
): Reference | { at: number; message: string } {
  const [, blanks = '', text = '', rest = ''] = /^(\s*)(\S*)(.*)$/s.exec(inside) ?? []
  const at = start + blanks.length
  const refuse = (message: string, offset = 0) => ({ at: at + offset, message })
  if (text === '') return refuse('the path is empty; write one such as {{input.transactionId}}')

  const root = /^[A-Za-z_][A-Za-z0-9_]*/.exec(text)?.[0] ?? ''
  if (!isRoot(root)) {
    const hint = suggestion(root, roots)
    return refuse(`'${root === '' ? text : root}' is not known here; ${hint}`)
  }
  const links: (string | number)[] = []
  linkPattern.lastIndex = root.length
  let end = root.length
  while (end < text.length) {
    const link = linkPattern.exec(text)
    if (link === null) {
      return refuse(
        'a path is words and indexes, such as input.items[0].name, and nothing else',
        end,
      )
    }
    links.push(link[1] ?? Number(link[2]))
    end = linkPattern.lastIndex
  }
  if (root === 'steps' && typeof links[0] !== 'string') {
    return refuse('steps is followed by the key of a step: {{steps.check_refund.output.state}}')
  }
  const path: Path = [root, ...links]
  if (rest.trim() === '') return { path, text, at }
  const fallback = /^\s+or\s+"([^"]*)"\s*$/.exec(rest)?.[1]
  if (fallback !== undefined) return { path, text, fallback, at }
  return refuse('after a path stands nothing, or a fallback: {{path or "text"}}', text.length)
}

function fillerOf({ parts, whole }: TemplateString): Filler {
  if (whole !== undefined) return (scope, room) => fillWhole(whole, scope, room)
  return (scope, room) => {
    let text = ''
    for (const part of parts) {
      const next = typeof part === 'string' ? part : fillText(part, scope)
      room.take(next.length)
      text += next
    }
    return text
  }
}

/** A string that is one reference gives the value as it is. An explicit null is a value, but a fallback goes first. */
function fillWhole(reference: Reference, scope: Scope, room: Room): Json {
  const value = findValue(scope, reference.path)
  const filled = value ?? reference.fallback ?? value
  if (filled !== undefined) return toJson(filled, room)
  throw new TemplateUnresolved(reference.text, 'nothing stands there')
}

function fillText(reference: Reference, scope: Scope): string {
  const value = findValue(scope, reference.path)
  const text = (value === undefined ? undefined : textOf(value)) ?? reference.fallback
  if (text !== undefined) return text
  if (value === undefined) throw new TemplateUnresolved(reference.text, 'nothing stands there')
  const found = isList(value) && value.length === 0 ? 'an empty list' : wordsOf(value)
  throw new TemplateUnresolved(reference.text, `it is ${found}, which a text cannot show`)
}

/** How a value is written in a text; `undefined` for what has no form there. */
function textOf(value: Value): string | undefined {
  if (isList(value)) {
    const items = value.map((item) => (isList(item) ? undefined : textOf(item)))
    const known = items.filter((item) => item !== undefined)
    return items.length > 0 && known.length === items.length ? known.join(', ') : undefined
  }
  if (value instanceof Instant) return instantText(value.at)
  if (typeof value === 'number') return decimalText(value)
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
