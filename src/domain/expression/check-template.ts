import { isJsonObject, type Json } from '../json.ts'
import { pathText } from '../problem.ts'
import type { Reference, Template, TemplateString } from '../template.ts'
import { inferReference } from './check.ts'
import type { LinkPath } from './reads.ts'
import { type Finding, type FindingRule, findingRules, Report } from './report.ts'
import type { ScopeTypes } from './scope-types.ts'
import { suggestion } from './suggestion.ts'
import type { Node } from './syntax.ts'
import {
  booleanType,
  fits,
  isNullable,
  jsonTypeOf,
  listType,
  literalType,
  numberType,
  objectType,
  stringType,
  type Type,
  typeWords,
  unionOf,
  withoutNull,
} from './type.ts'

/** What can be written inside a text. */
const plainType = unionOf([stringType, numberType, booleanType])
const insertedType = unionOf([plainType, listType(plainType)])

/**
 * Infers the type of what a template resolves to, and finds references and arguments that cannot work. `expected` is
 * what takes the result, such as the input of a tool. `guards` are paths that exist and are not null by then. Paths of
 * findings lie within the template's value.
 */
export function checkTemplate(
  template: Template,
  types: ScopeTypes,
  expected?: Type,
  guards: readonly LinkPath[] = [],
): { readonly type: Type; readonly findings: readonly Finding[] } {
  const checker = new TemplateChecker(template, types, guards)
  const type = checker.check(template.value, [], expected)
  return { type, findings: checker.findings }
}

type Place = readonly (string | number)[]

class TemplateChecker {
  readonly findings: Finding[] = []
  readonly #types: ScopeTypes
  readonly #guards: readonly LinkPath[]
  readonly #strings: ReadonlyMap<string, TemplateString>

  constructor(template: Template, types: ScopeTypes, guards: readonly LinkPath[]) {
    this.#types = types
    this.#guards = guards
    this.#strings = new Map(template.strings.map((string) => [pathText(string.place), string]))
  }

  check(value: Json, place: Place, expected: Type | undefined): Type {
    if (isJsonObject(value)) return this.#checkObject(value, place, expected)
    if (isArray(value)) {
      const item = expected?.kind === 'list' ? expected.of : undefined
      return listType(
        unionOf(value.map((part, index) => this.check(part, [...place, index], item))),
      )
    }
    const string = this.#strings.get(pathText(place))
    const type = string === undefined ? literalType(value) : this.#checkString(string)
    if (expected === undefined) return type
    const answer = fits(type, expected)
    if (answer === 'no') {
      this.#add(
        'expression-type',
        place,
        `expected ${typeWords(expected)}; this is ${wordsFor(type)}`,
      )
    } else if (answer === 'maybe' && fits(withoutNull(type), expected) === 'yes') {
      this.#add('unguarded-value', place, `this may be null; expected ${typeWords(expected)}`)
    }
    return type
  }

  #checkObject(
    value: { readonly [key: string]: Json },
    place: Place,
    expected: Type | undefined,
  ): Type {
    const wanted = expected?.kind === 'object' ? expected : undefined
    const members = Object.entries(value).map(([name, member]) => {
      const field = wanted?.fields.get(name)
      if (wanted !== undefined && field === undefined && wanted.rest === undefined) {
        const hint = suggestion(name, wanted.fields.keys())
        this.#add('unknown-field', [...place, name], `'${name}' is not expected here; ${hint}`)
      }
      return [name, this.check(member, [...place, name], field?.type ?? wanted?.rest)] as const
    })
    for (const [name, field] of wanted?.fields ?? []) {
      if (field.optional || Object.hasOwn(value, name)) continue
      this.#add('missing-field', place, `'${name}' is missing; expected ${typeWords(field.type)}`)
    }
    const type = objectType(Object.fromEntries(members))
    if (expected !== undefined && wanted === undefined && fits(type, expected) === 'no') {
      this.#add('expression-type', place, `expected ${typeWords(expected)}; this is an object`)
    }
    return type
  }

  #checkString(string: TemplateString): Type {
    const report = new Report(string.source, pathText(string.place))
    const isConstant = string.parts.every((part) => typeof part === 'string')
    let type = isConstant ? literalType(string.source) : stringType
    for (const part of string.parts) {
      if (typeof part === 'string') continue
      const found = this.#referenceType(part, report)
      if (part === string.whole) type = found
      else this.#checkInserted(part, found, report)
    }
    this.findings.push(...report.findings)
    return type
  }

  /** What a reference gives: a timestamp leaves as text, and a fallback stands in for what is absent or null. */
  #referenceType(reference: Reference, report: Report): Type {
    const hasFallback = reference.fallback !== undefined
    const type = inferReference(nodeOf(reference), this.#types, report, !hasFallback, this.#guards)
    const json = jsonTypeOf(type)
    return hasFallback ? unionOf([withoutNull(json), literalType(reference.fallback ?? '')]) : json
  }

  #checkInserted(reference: Reference, type: Type, report: Report): void {
    const node = nodeOf(reference)
    const answer = fits(withoutNull(type), insertedType)
    if (answer === 'no') {
      const message = `${reference.text} is ${typeWords(type)}, which a text cannot show`
      report.add('expression-type', node, message)
    } else if (isNullable(type)) report.nullable(node, 'a text')
  }

  #add(rule: FindingRule, place: Place, message: string): void {
    this.findings.push({ rule, severity: findingRules[rule], path: pathText(place), message })
  }
}

/** A path as the chain of links that the type check of expressions reads. */
function nodeOf({ path: [root, ...links], at }: Reference): Node {
  return links.reduce<Node>(
    (of, link) =>
      typeof link === 'string'
        ? { kind: 'member', at, of, name: link }
        : { kind: 'index', at, of, key: { kind: 'literal', at, value: link } },
    { kind: 'root', at, name: root },
  )
}

function wordsFor(type: Type): string {
  return type.kind === 'string' && type.values !== undefined
    ? `'${type.values.join("' or '")}'`
    : typeWords(type)
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
