import { readFile } from 'node:fs/promises'
import { attachPositions, readDocument } from '../documents/read-document.ts'
import { ServiceError } from '../domain/errors.ts'
import { isJsonObject } from '../domain/json.ts'
import { expectation, unknownFieldText } from '../domain/zod-problems.ts'
import type { SourceOptions } from './open-source.ts'
import { type OpenSources, openSources } from './open-sources.ts'

/**
 * Opens the sources of a file of YAML or JSON: `{ sources: [...] }`.
 *
 * @throws ServiceError `TOOL_MODULE_INVALID`, `DOCUMENT_INVALID`, and what `openSources` throws, with lines and columns.
 */
export async function openSourceFile(path: string, options: SourceOptions): Promise<OpenSources> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const problem = `cannot be loaded: ${reason}`
    throw new ServiceError('TOOL_MODULE_INVALID', { path, problem }, { cause: error })
  }
  const document = readDocument(text, { name: path })
  const { value } = document
  const fields = isJsonObject(value) ? Object.keys(value) : []
  const unknown = fields.filter((field) => field !== 'sources')
  if (!isJsonObject(value) || unknown.length > 0) {
    const problems = isJsonObject(value)
      ? unknown.map((field) => ({ path: field, message: unknownFieldText(field, ['sources']) }))
      : [{ path: '', message: expectation(value, 'an object with sources') }]
    throw new ServiceError('SOURCES_INVALID', {
      file: path,
      problems: attachPositions(problems, document),
    })
  }
  return openSources(value.sources, path, options, (problems) =>
    attachPositions(problems, document),
  )
}
