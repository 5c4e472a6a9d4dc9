import { type Definition, definitionHash } from '../domain/definition.ts'
import { isServiceError } from '../domain/errors.ts'
import { parseDefinition } from '../domain/parse-definition.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { Parts } from './shell.ts'

/**
 * A version as YAML: the text that it was written as, comments and all, where that is kept and still says the same;
 * otherwise one that is made of its definition, always the same one.
 */
export function definitionText(
  parts: Parts,
  version: {
    readonly definition: Definition
    readonly definitionHash: string
    readonly source: string | null
  },
): string {
  const { source } = version
  if (source !== null && saysHash(parts, source, version.definitionHash)) return source
  return parts.writeDefinition(version.definition)
}

/** The scenarios of a version as a scenario file: as they were written where that is kept, otherwise made of them. */
export function scenariosText(
  parts: Parts,
  listed: {
    readonly procedureKey: string
    readonly scenarios: readonly Scenario[]
    readonly source: string | null
  },
): string {
  return listed.source ?? parts.writeScenarios(listed.procedureKey, listed.scenarios)
}

function saysHash(parts: Parts, source: string, hash: string): boolean {
  try {
    const parsed = parseDefinition(parts.readDocument(source, 'source').value)
    return 'definition' in parsed && definitionHash(parsed.definition) === hash
  } catch (error) {
    // A text that cannot be read any more says nothing.
    if (isServiceError(error, 'DOCUMENT_INVALID')) return false
    throw error
  }
}
