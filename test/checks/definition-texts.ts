import { isJsonObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import { pathText } from '../../src/domain/problem.ts'

type Path = readonly (string | number)[]

/** A definition document that may be changed. */
export type Document = { [key: string]: Json }

/** One text of a definition in which something is read. */
export interface ReadingText {
  readonly path: Path
  readonly kind: 'expression' | 'template'
  readonly text: string
}

const expressions = ['when', 'until', 'expect', 'forEach', 'from']
const templates = ['with', 'message', 'show', 'say', 'text', 'replies']

/** All expressions and templates of a document, in its order. */
export function readingTexts(document: Document): readonly ReadingText[] {
  const found: ReadingText[] = []
  const visit = (value: Json, path: Path, kind: ReadingText['kind'] | undefined): void => {
    if (typeof value === 'string') {
      if (kind !== undefined) found.push({ path, kind, text: value })
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, index], kind)
    } else if (isJsonObject(value)) {
      for (const [key, member] of Object.entries(value)) {
        if (
          ['metadata', 'policy', 'input', 'examples', 'answer'].includes(key) &&
          kind === undefined
        )
          continue
        visit(member, [...path, key], kind ?? kindOf(key, value, path))
      }
    }
  }
  visit(document, [], undefined)
  return found
}

function kindOf(key: string, around: JsonObject, path: Path): ReadingText['kind'] | undefined {
  if (key === 'compute' || (key === 'output' && path.length === 0)) return 'expression'
  if (expressions.includes(key)) return 'expression'
  // The text of a condition or choice is for people; that of an end is a template.
  if (key === 'text') return 'end' in around ? 'template' : undefined
  return templates.includes(key) ? 'template' : undefined
}

/** All steps of a document, each with its path, its list and its place in it. */
export function stepsOf(
  document: Document,
): readonly { readonly path: Path; readonly step: Document; readonly list: Json[] }[] {
  const found: { path: Path; step: Document; list: Json[] }[] = []
  const visit = (list: Json | undefined, path: Path): void => {
    if (!Array.isArray(list)) return
    for (const [index, step] of (list as Document[]).entries()) {
      const at = [...path, index]
      found.push({ path: at, step, list: list as Json[] })
      visit(step.steps, [...at, 'steps'])
      visit(step.otherwise, [...at, 'otherwise'])
      if (!Array.isArray(step.choose)) continue
      for (const [place, choice] of (step.choose as Document[]).entries()) {
        visit(choice.steps, [...at, 'choose', place, 'steps'])
      }
    }
  }
  visit(document.steps, ['steps'])
  return found
}

function valueAt(document: Document, path: Path): Json {
  return path.reduce<Json>((value, link) => Object(value)[link], document)
}

/** A copy of the document with another value at a path; undefined takes it away. */
export function withValue(document: Document, path: Path, value: Json | undefined): Document {
  const copy: Document = structuredClone(document)
  const holder = Object(valueAt(copy, path.slice(0, -1)))
  const last = path.at(-1) ?? ''
  if (value !== undefined) holder[last] = value
  else if (Array.isArray(holder)) holder.splice(Number(last), 1)
  else delete holder[last]
  return copy
}

export { pathText }
