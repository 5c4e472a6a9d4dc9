import { z } from 'zod'
import type { VersionContent, VersionTexts } from '../db/queries/versions.ts'
import { readDocument } from '../documents/read-document.ts'
import { definitionHash } from '../domain/definition.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Json } from '../domain/json.ts'
import { parseDefinition } from '../domain/parse-definition.ts'
import { parseScenarioFile } from '../domain/parse-scenarios.ts'
import type { Scenario } from '../domain/scenario.ts'
import { findSourceProblem, type sourceLimits } from '../domain/source-text.ts'
import { scenariosHash } from './scenario-output.ts'

/** The text of a definition, as it is kept with its comments. */
export const sourceText = keptText('definition').describe(
  'The YAML or JSON text that `definition` was read from; kept as it is, with its comments',
)

/** The text of a scenario file, as it is kept with its comments. */
export const scenariosSourceText = keptText('scenarios').describe(
  'The text of the scenario file that `scenarios` was read from; kept as it is',
)

function keptText(kind: keyof typeof sourceLimits) {
  return z.string().superRefine((text, context) => {
    const problem = findSourceProblem(text, kind)
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
  })
}

/**
 * The texts that were given with a version; null for one that was not. Each says what is stored beside it: whoever reads
 * it later is not told something else than what runs.
 *
 * @throws ServiceError `REQUEST_INVALID` for a text that says something else.
 */
export function givenTexts(
  operation: string,
  given: { readonly source?: string | undefined; readonly scenariosSource?: string | undefined },
  content: Pick<VersionContent, 'definition' | 'definitionHash'>,
  scenarios: readonly Scenario[],
): VersionTexts {
  const { source, scenariosSource } = given
  if (source !== undefined) requireSource(operation, source, content.definitionHash)
  if (scenariosSource !== undefined) {
    const { key } = content.definition
    requireScenariosSource(operation, 'scenariosSource', scenariosSource, key, scenarios)
  }
  return { source: source ?? null, scenariosSource: scenariosSource ?? null }
}

function requireSource(operation: string, source: string, hash: string): void {
  const parsed = parseDefinition(readValue(source))
  if ('definition' in parsed && definitionHash(parsed.definition) === hash) return
  const message = 'does not say what definition says; leave it out, or give both alike'
  refuseSource(operation, 'source', message)
}

/**
 * Holds the text of a scenario file to say the scenarios of a procedure.
 *
 * @throws ServiceError `REQUEST_INVALID` for a text that says something else.
 */
export function requireScenariosSource(
  operation: string,
  field: string,
  source: string,
  procedureKey: string,
  scenarios: readonly Scenario[],
): void {
  const parsed = parseScenarioFile(readValue(source))
  const isSame =
    'scenarios' in parsed &&
    parsed.procedureKey === procedureKey &&
    scenariosHash(parsed.scenarios) === scenariosHash(scenarios)
  if (isSame) return
  const message = `is not the file of these scenarios of ${procedureKey}; leave it out, or give both alike`
  refuseSource(operation, field, message)
}

/** What a text says; null, which is neither a definition nor scenarios, when it cannot be read. */
function readValue(text: string): Json {
  try {
    return readDocument(text, { name: 'source' }).value
  } catch (error) {
    // What it says is refused then, whatever is wrong with it.
    if (error instanceof ServiceError) return null
    throw error
  }
}

/** @throws ServiceError `REQUEST_INVALID` */
export function refuseSource(operation: string, path: string, message: string): never {
  throw new ServiceError('REQUEST_INVALID', { operation, problems: [{ path, message }] })
}
