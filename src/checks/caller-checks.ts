import { canonicalJson } from '../domain/canonical.ts'
import type { Definition } from '../domain/definition.ts'
import type { Type } from '../domain/expression.ts'
import type { Finding } from '../domain/finding.ts'
import type { CalledProcedure, FindProcedure } from './called-procedure.ts'
import { checkDefinition, interfaceOf } from './check-definition.ts'
import { Findings } from './findings.ts'
import type { FindContract } from './step-types.ts'

/** An active version that calls a procedure, by itself or through others, and the procedures as it meets them. */
export interface CallerOf {
  readonly definition: Definition
  readonly versionNumber: number
  /** As they are now. */
  readonly before: FindProcedure
  /** As they will be. */
  readonly after: FindProcedure
}

/**
 * Checks one caller of a procedure that is to change: what would be an error in it then and is none now. `isChanged`
 * says that those who call the caller have to be looked at as well.
 */
export function checkCaller(
  { definition, versionNumber, before, after }: CallerOf,
  findContract: FindContract,
): { readonly findings: readonly Finding[]; readonly isChanged: boolean } {
  const known = new Set(errorsOf(definition, findContract, before).map(placeOf))
  const broken = errorsOf(definition, findContract, after).filter(
    (finding) => !known.has(placeOf(finding)),
  )
  const findings = new Findings()
  for (const { path, message } of broken) {
    const field = /\.with\b/.test(path) ? 'input' : 'output'
    const text = `${definition.key} version ${versionNumber} calls this and would break, at ${path}: ${message}; keep what it relies on, or give what is new a key of its own`
    findings.add('caller-broken', [field], text)
  }
  const [now, then] = [before, after].map((find) => interfaceOf(definition, findContract, find))
  const isChanged = now === undefined || then === undefined || !isSameInterface(now, then)
  return { findings: findings.inOrder(), isChanged }
}

/** Whether no caller can tell two versions of a procedure apart before it calls them. */
export function isSameInterface(a: CalledProcedure, b: CalledProcedure): boolean {
  return interfaceText(a) === interfaceText(b)
}

function interfaceText({ input, output, mayDecline, calls }: CalledProcedure): string {
  return canonicalJson([input ?? null, typeText(output), mayDecline, [...calls].sort()])
}

/** A text that is the same for two types that are written alike. */
function typeText(type: Type): string {
  switch (type.kind) {
    case 'string':
      return type.values === undefined ? 'string' : `string ${JSON.stringify(type.values)}`
    case 'list':
      return `list(${typeText(type.of)})`
    case 'union':
      return `union(${type.of.map(typeText).sort().join()})`
    case 'object': {
      const fields = Array.from(
        type.fields,
        ([name, field]) =>
          `${JSON.stringify(name)}${field.optional ? '?' : ''}:${typeText(field.type)}`,
      )
      const rest = type.rest === undefined ? '' : `...${typeText(type.rest)}`
      return `object(${[...fields.sort(), rest].join()})`
    }
    default:
      return type.kind
  }
}

/** A circle is told of the procedure that closes it. */
function errorsOf(
  definition: Definition,
  findContract: FindContract,
  findProcedure: FindProcedure,
): readonly Finding[] {
  return checkDefinition(definition, findContract, findProcedure).filter(
    ({ rule, severity }) => severity === 'error' && rule !== 'call-cycle',
  )
}

function placeOf({ rule, path }: Finding): string {
  return `${rule} ${path}`
}
