import type { z } from 'zod'
import { checkDefinition } from '../checks/check-definition.ts'
import { procedureSet } from '../checks/procedure-set.ts'
import { loadToolRegistry } from '../context.ts'
import { type Definition, definitionHash } from '../domain/definition.ts'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { importDefinition } from '../domain/import-definition.ts'
import { isJsonObject } from '../domain/json.ts'
import type { Problem } from '../domain/problem.ts'
import type { ToolRegistry } from '../domain/tool-registry.ts'
import { createProcedure } from '../operations/create-procedure.ts'
import { createVersion } from '../operations/create-version.ts'
import { getProcedure } from '../operations/get-procedure.ts'
import type { versionState } from '../operations/version-output.ts'
import type { Answer, Command } from './command.ts'
import { listDocumentFiles } from './document-files.ts'
import { usageError } from './failures.ts'
import { findingsScreen } from './procedure-screen.ts'
import { readDocumentFile } from './read-text.ts'
import type { Shell } from './shell.ts'
import type { Terminal } from './terminal.ts'

/** A file that was read, the definition that it became, and what of it became something else. */
interface ImportedFile {
  readonly file: string
  readonly definition: Definition
  readonly notes: readonly Problem[]
}

export const importProcedures: Command = {
  path: 'procedures import',
  summary: 'Make drafts of procedures that were written for other agents',
  arguments: [
    {
      usage: '<FILE...>',
      text: 'procedures in YAML or JSON, one in each: files, folders, patterns, - for standard input',
    },
  ],
  options: [
    { usage: '--dry-run', text: 'print the definitions as YAML, and save nothing: no database' },
  ],
  notes: [
    'What is not carried over as it stands is told with its place in the file. docs/import.md says what becomes what.',
    'A procedure that is there already gets a draft more, unless one of its versions says the same.',
    'Nothing is saved when one of the files has a mistake, and nothing goes live by it.',
  ].join('\n'),
  async run(shell, given) {
    const tools = await loadToolRegistry(shell.config)
    const imported = await importAll(shell, given.list('FILE'), tools)
    if (given.has('dry-run')) return dryRun(shell, imported, tools)
    const answers: Answer[] = []
    for (const one of imported) answers.push(await save(shell, one))
    return {
      output: answers.map(({ output }) => output),
      screen: answers.map(({ screen }) => screen).join('\n\n'),
    }
  },
}

/**
 * Reads and rewrites all files.
 *
 * @throws ServiceError `DEFINITION_INVALID` with what is wrong in any of them.
 */
async function importAll(
  shell: Shell,
  given: readonly string[],
  tools: ToolRegistry,
): Promise<readonly ImportedFile[]> {
  const files = listDocumentFiles(given)
  const imported: ImportedFile[] = []
  const problems: Problem[] = []
  for (const { file, isNamed } of files) {
    const document = await readDocumentFile(shell, file)
    const { value } = document
    if (!isNamed && !(isJsonObject(value) && ('steps' in value || 'Steps' in value))) {
      shell.terminal.notice(`Left out, because it is no procedure: ${file}`)
      continue
    }
    const refuse = (found: readonly Problem[]) => {
      const located = document.locate(found)
      if (files.length === 1) problems.push(...located)
      else problems.push(...located.map((one) => ({ ...one, path: `${file} ${one.path}`.trim() })))
    }
    if (isScenarioFile(value)) {
      refuse([{ path: '', message: scenarioFileText(file) }])
      continue
    }
    const result = importDefinition(value, (name) => tools.find(name) !== undefined)
    if ('problems' in result) {
      refuse(result.problems)
      continue
    }
    const { definition } = result
    const same = imported.find((one) => one.definition.key === definition.key)
    if (same !== undefined) {
      const message = `is ${definition.key}, which is the key of ${same.file} as well; a file is one procedure, give one of them another key`
      refuse([{ path: 'key', message }])
    }
    imported.push({ file, definition, notes: document.locate(result.notes) })
  }
  if (problems.length > 0) throw new ServiceError('DEFINITION_INVALID', { problems })
  if (imported.length === 0) {
    throw usageError('There is no procedure in what was given.', 'Name a file or another folder.')
  }
  return imported
}

function isScenarioFile(value: unknown): boolean {
  return isJsonObject(value) && 'scenarios' in value && !('steps' in value || 'Steps' in value)
}

function scenarioFileText(file: string): string {
  return `is a file of scenarios and no procedure; 'stepwarden simulate PLAYBOOK ${file}' runs them, and 'stepwarden procedures scenarios KEY NUMBER --set ${file}' keeps them with a draft`
}

/** The definitions as YAML on standard output; what is to be said of them beside it. */
function dryRun(
  { terminal, parts }: Shell,
  imported: readonly ImportedFile[],
  tools: ToolRegistry,
): Answer {
  const findContract = (name: string) => tools.find(name)?.contract
  const definitions = imported.map(({ definition }) => definition)
  const findProcedure = procedureSet(definitions, findContract, 'unknown')
  const output = imported.map((one) => ({
    ...one,
    findings: checkDefinition(one.definition, findContract, findProcedure),
  }))
  if (!terminal.json) {
    for (const { file, notes, findings } of output) {
      terminal.notice([`${file}:`, ...aboutLines(terminal, notes, findings)].join('\n'))
    }
    terminal.printRaw(definitions.map(parts.writeDefinition).join('---\n'))
  }
  return { output, screen: '' }
}

async function save(shell: Shell, { file, definition, notes }: ImportedFile): Promise<Answer> {
  const { key } = definition
  const { result, version } = await saveDefinition(shell, definition)
  const done = {
    created: `Version ${version.versionNumber} of ${key} is there, as a draft.`,
    unchanged: `Version ${version.versionNumber} of ${key} says the same already; nothing was saved.`,
  }[result]
  return {
    output: { file, result, ...version, notes },
    screen: [done, ...aboutLines(shell.terminal, notes, version.findings)].join('\n'),
  }
}

type SavedVersion = z.infer<typeof versionState>

async function saveDefinition(
  shell: Shell,
  definition: Definition,
): Promise<{ readonly result: 'created' | 'unchanged'; readonly version: SavedVersion }> {
  const procedureKey = definition.key
  try {
    return { result: 'created', version: await shell.call(createProcedure, { definition }) }
  } catch (error) {
    if (!isServiceError(error, 'PROCEDURE_EXISTS')) throw error
  }
  const { versions } = await shell.call(getProcedure, { procedureKey })
  const hash = definitionHash(definition)
  const same = versions.find((one) => one.definitionHash === hash)
  if (same === undefined) {
    const version = await shell.call(createVersion, { procedureKey, definition })
    return { result: 'created', version }
  }
  const { version } = await shell.call(getProcedure, {
    procedureKey,
    versionNumber: same.versionNumber,
  })
  const {
    definition: _same,
    summary: _summary,
    toolContracts: _contracts,
    source: _source,
    ...state
  } = version
  return { result: 'unchanged', version: state }
}

function aboutLines(
  terminal: Terminal,
  notes: readonly Problem[],
  findings: readonly Finding[],
): readonly string[] {
  const noted = notes.map(({ path, message, line, column }) => {
    const place = line === undefined ? '' : ` (line ${line}, column ${column ?? 1})`
    const where = path === '' ? '' : `${path}: `
    return `  ${terminal.style('care', 'note')} ${terminal.wrap(`${where}${message}${place}`, 7)}`
  })
  const head = noted.length === 0 ? [] : ['Not carried over as it stands:', ...noted]
  return [...head, findingsScreen(terminal, findings)]
}
