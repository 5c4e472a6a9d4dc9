import type { Definition } from '../domain/definition.ts'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import { parseDefinition } from '../domain/parse-definition.ts'
import { parseScenarioFile } from '../domain/parse-scenarios.ts'
import type { FileProblem, Problem } from '../domain/problem.ts'
import { findSourceProblem } from '../domain/source-text.ts'
import { usageError } from './failures.ts'
import { listPlaybookFiles } from './playbook-files.ts'
import { readText } from './read-text.ts'
import type { ReadText, Shell } from './shell.ts'

/** The scenarios of a procedure, in a file of their own. */
export interface ScenarioFile {
  readonly file: string
  readonly procedureKey: string
  readonly document: ReadText
  readonly scenarios: Json
}

/** A procedure that is kept as YAML: its definition, and the file of its scenarios where there is one. */
export interface PlaybookFile {
  readonly file: string
  readonly document: ReadText
  readonly definition: Definition
  readonly scenarioFile?: ScenarioFile
}

/**
 * Reads all procedures of a folder, by key. Nothing in a folder is left out silently: a YAML file that is neither a
 * definition nor a file of scenarios is a problem.
 *
 * @throws ServiceError `FILES_INVALID` with every problem of every file, `USAGE_INVALID` for what is no folder and for one
 *   without a definition.
 */
export async function readPlaybooks(
  shell: Shell,
  folder: string,
): Promise<readonly PlaybookFile[]> {
  const { files, problems } = listPlaybookFiles(folder)
  const reading = new Reading(shell, problems)
  for (const file of files) await reading.read(file)
  const playbooks = reading.playbooks()
  if (reading.problems.length > 0) {
    throw new ServiceError('FILES_INVALID', { folder, problems: reading.problems })
  }
  if (playbooks.length === 0) {
    throw usageError(`There is no definition in ${folder}.`, 'Name the folder that holds them.')
  }
  return playbooks
}

class Reading {
  readonly problems: FileProblem[]
  readonly #shell: Shell
  readonly #definitions = new Map<string, PlaybookFile>()
  readonly #scenarios = new Map<string, ScenarioFile>()
  /** Keys of definitions that have mistakes: their scenarios are no strangers. */
  readonly #broken = new Set<string>()

  constructor(shell: Shell, problems: readonly FileProblem[]) {
    this.#shell = shell
    this.problems = [...problems]
  }

  async read(file: string): Promise<void> {
    const document = await this.#document(file)
    if (document === undefined) return
    const { value } = document
    const fields = isJsonObject(value) ? value : {}
    if ('scenarios' in fields || 'procedure' in fields) this.#readScenarios(file, document)
    else if ('key' in fields || 'steps' in fields) this.#readDefinition(file, document)
    else {
      const message = 'is neither a definition nor a file of scenarios; keep it elsewhere'
      this.#refuse(file, [{ path: '', message }])
    }
  }

  playbooks(): readonly PlaybookFile[] {
    for (const { file, document, procedureKey } of this.#scenarios.values()) {
      if (this.#definitions.has(procedureKey) || this.#broken.has(procedureKey)) continue
      const message = `there is no definition of ${procedureKey} in the folder; put its file there as well`
      this.#refuse(file, document.locate([{ path: 'procedure', message }]))
    }
    return [...this.#definitions.values()]
      .sort((a, b) => (a.definition.key < b.definition.key ? -1 : 1))
      .map((playbook) => {
        const scenarioFile = this.#scenarios.get(playbook.definition.key)
        return { ...playbook, ...(scenarioFile && { scenarioFile }) }
      })
  }

  async #document(file: string): Promise<ReadText | undefined> {
    try {
      const text = await readText(file)
      return this.#shell.parts.readDocument(text, file)
    } catch (error) {
      if (isServiceError(error, 'DOCUMENT_INVALID')) this.#refuse(file, error.details.problems)
      else if (isServiceError(error, 'FILE_UNREADABLE')) {
        this.#refuse(file, [{ path: '', message: `cannot be read: ${error.details.problem}` }])
      } else throw error
      return undefined
    }
  }

  #readDefinition(file: string, document: ReadText): void {
    const parsed = parseDefinition(document.value)
    if ('problems' in parsed) {
      if (isJsonObject(document.value)) this.#broken.add(String(document.value.key))
      this.#refuse(file, document.locate(parsed.problems))
      return
    }
    const { definition } = parsed
    this.#checkText(file, document, 'definition')
    const first = this.#definitions.get(definition.key)
    if (first === undefined) {
      this.#definitions.set(definition.key, { file, document, definition })
      return
    }
    const message = `is ${definition.key}, which is the key of ${first.file} as well; a procedure is one file, remove one`
    this.#refuse(file, document.locate([{ path: 'key', message }]))
  }

  #readScenarios(file: string, document: ReadText): void {
    const { value } = document
    const parsed = parseScenarioFile(value)
    if ('problems' in parsed) {
      this.#refuse(file, document.locate(parsed.problems))
      return
    }
    this.#checkText(file, document, 'scenarios')
    const { procedureKey } = parsed
    const first = this.#scenarios.get(procedureKey)
    if (first === undefined) {
      const scenarios = isJsonObject(value) ? (value.scenarios ?? []) : []
      this.#scenarios.set(procedureKey, { file, procedureKey, document, scenarios })
      return
    }
    const message = `is for ${procedureKey}, as ${first.file} is; the scenarios of a procedure are one file, put them together`
    this.#refuse(file, document.locate([{ path: 'procedure', message }]))
  }

  #checkText(file: string, { source }: ReadText, kind: 'definition' | 'scenarios'): void {
    const message = source === undefined ? undefined : findSourceProblem(source, kind)
    if (message !== undefined) this.#refuse(file, [{ path: '', message }])
  }

  #refuse(file: string, problems: readonly Problem[]): void {
    this.problems.push(...problems.map((problem) => ({ file, ...problem })))
  }
}
