import { ServiceError } from '../domain/errors.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import { parseScenarioFile } from '../domain/parse-scenarios.ts'
import { usageError } from './failures.ts'
import { readDocumentFile } from './read-text.ts'
import type { Shell } from './shell.ts'

/** The list of scenarios in a file, and the text of the file where that is kept. */
export interface ReadScenarios {
  readonly scenarios: Json
  readonly source: string | undefined
}

/**
 * The list of scenarios in a file, which are for a procedure where its key is known.
 *
 * @throws ServiceError `SCENARIOS_INVALID` with every problem, each with line and column; `USAGE_INVALID` for the file of
 *   another procedure; `DOCUMENT_INVALID`, `FILE_UNREADABLE`.
 */
export async function readScenarios(
  shell: Shell,
  file: string,
  procedureKey: string | undefined,
): Promise<ReadScenarios> {
  const document = await readDocumentFile(shell, file)
  const parsed = parseScenarioFile(document.value)
  if ('problems' in parsed) {
    throw new ServiceError('SCENARIOS_INVALID', { problems: document.locate(parsed.problems) })
  }
  if (procedureKey !== undefined && parsed.procedureKey !== procedureKey) {
    throw usageError(
      `The scenarios in ${file} are for ${parsed.procedureKey}, not for ${procedureKey}.`,
      'Name that procedure, or another file.',
    )
  }
  const { value, source } = document
  return { scenarios: isJsonObject(value) ? (value.scenarios ?? []) : [], source }
}
