import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import { isJsonObject } from '../domain/json.ts'
import type { FileProblem } from '../domain/problem.ts'
import { getProcedure } from '../operations/get-procedure.ts'
import { listScenarios } from '../operations/list-scenarios.ts'
import { folderOf, listKeys } from './apply-command.ts'
import type { Command } from './command.ts'
import { usageError } from './failures.ts'
import { listPlaybookFiles } from './playbook-files.ts'
import { readText } from './read-text.ts'
import type { Shell } from './shell.ts'
import { table } from './table.ts'
import { definitionText, scenariosText } from './version-text.ts'
import { requireInside, writeFileWithin } from './write-within.ts'

type Kind = 'definition' | 'scenarios'

/** A file as it is to be, and what becomes of the one that is there. */
interface ExportedFile {
  readonly file: string
  readonly kind: Kind
  readonly procedureKey: string
  readonly versionNumber: number
  /** The number of a draft that is newer, and is left out. */
  readonly newerDraft: number | null
  readonly text: string
  /** `written`: none is there. `unchanged`: it has this text. `replaced`: it has another one. */
  readonly result: 'written' | 'unchanged' | 'replaced'
}

export const exportProcedures: Command = {
  path: 'export',
  summary: 'Write procedures to a folder as YAML, as apply reads them',
  arguments: [{ usage: '[KEY...]', text: 'keys of procedures (default: all)' }],
  options: [
    { usage: '-f, --folder <DIR>', text: 'the folder to write to; made when it is not there' },
    {
      usage: '--number <N>',
      text: 'with one key: the number of a version (default: the active one, else the newest)',
    },
    { usage: '--plan', text: 'say what it would write, and write nothing' },
    { usage: '--force', text: 'replace files that have another content' },
  ],
  notes: [
    'A procedure that has a file in the folder is written there, any other to procedures/ and its scenarios to scenarios/.',
    'Texts are those that the versions were written as, comments and all. Without --force a file of another content',
    'keeps everything from being written (exit code 4). docs/gitops.md says more.',
  ].join('\n'),
  async run(shell, given) {
    const { terminal } = shell
    const folder = folderOf(given.find('folder'))
    const isPlan = given.has('plan')
    const named = given.list('KEY')
    const number = given.number('number')
    if (number !== undefined && named.length !== 1) {
      throw usageError('--number is the number of a version of one procedure.', 'Give one key.')
    }
    const files = await prepareFiles(shell, folder, named, number)
    const differing = files.filter(({ result }) => result === 'replaced')
    if (!isPlan && differing.length > 0 && !given.has('force')) {
      const names = differing.map(({ file }) => file)
      throw new ServiceError('FILES_DIFFER', { folder, files: names })
    }
    if (!isPlan) await writeFiles(folder, files)
    return {
      output: { folder, isPlan, files: files.map(({ text: _text, ...file }) => file) },
      screen: [
        table(
          terminal,
          ['FILE', 'PROCEDURE', 'VERSION', isPlan ? 'WOULD BE' : 'IS'],
          files.map(({ file, procedureKey, versionNumber, result }) => [
            file,
            procedureKey,
            `v${versionNumber}`,
            result,
          ]),
          'There are no procedures.',
        ),
        ...leftOutLines(files),
        ...(isPlan ? ['Nothing was written.'] : []),
      ].join('\n'),
    }
  },
}

/** Drafts that an export of what serves leaves out. */
function leftOutLines(files: readonly ExportedFile[]): readonly string[] {
  return files
    .filter(({ kind, newerDraft }) => kind === 'definition' && newerDraft !== null)
    .map(
      ({ procedureKey, newerDraft }) =>
        `Left out is draft ${newerDraft} of ${procedureKey}, which is newer: 'stepwarden export -f DIR ${procedureKey} --number ${newerDraft}' writes it.`,
    )
}

/** All files of an export, compared with what is there. Everything that could refuse it is looked at here. */
async function prepareFiles(
  shell: Shell,
  folder: string,
  named: readonly string[],
  number: number | undefined,
): Promise<readonly ExportedFile[]> {
  const there = existsSync(folder) ? await readNames(shell, folder) : []
  const keys = named.length > 0 ? [...new Set(named)] : await listKeys(shell)
  const problems: FileProblem[] = []
  const files: ExportedFile[] = []
  for (const procedureKey of keys) {
    const texts = await findTexts(shell, procedureKey, number, named.length > 0)
    if (texts === undefined) continue
    for (const kind of ['definition', 'scenarios'] as const) {
      const own = there.filter((one) => one.kind === kind && one.procedureKey === procedureKey)
      const [first, second] = own
      if (second !== undefined) {
        const message = `is of ${procedureKey}, as ${first?.file} is; remove one`
        problems.push({ file: second.file, path: '', message })
      }
      const text = texts[kind]
      // Without scenarios there is no file of them, and one that is there is to have none.
      if (text === undefined && first === undefined) continue
      const file = first?.file ?? defaultFile(folder, kind, procedureKey)
      const other = there.find((one) => one.file === file && one !== first)
      if (other?.procedureKey !== undefined) {
        const message = `is of ${other.procedureKey}, and its name is that of ${procedureKey}; rename it`
        problems.push({ file, path: '', message })
      }
      const { versionNumber, newerDraft } = texts
      const wanted = text ?? shell.parts.writeScenarios(procedureKey, [])
      const result = await compareFile(file, wanted)
      files.push({ file, kind, procedureKey, versionNumber, newerDraft, text: wanted, result })
    }
  }
  if (problems.length > 0) throw new ServiceError('FILES_INVALID', { folder, problems })
  return files
}

interface Texts {
  readonly versionNumber: number
  /** The number of a draft that is newer, and is left out. */
  readonly newerDraft: number | null
  readonly definition: string
  readonly scenarios: string | undefined
}

/** The texts of a version; undefined for a procedure that has none any more and was not asked for by name. */
async function findTexts(
  shell: Shell,
  procedureKey: string,
  number: number | undefined,
  isNamed: boolean,
): Promise<Texts | undefined> {
  try {
    const found = await shell.call(getProcedure, { procedureKey, versionNumber: number })
    const { version, versions } = found
    const { versionNumber } = version
    const [newest] = versions
    const isNewer = newest?.status === 'draft' && newest.versionNumber > versionNumber
    const listed = await shell.call(listScenarios, { procedureKey, versionNumber })
    const hasScenarios = listed.scenarios.length > 0 || listed.source !== null
    return {
      versionNumber,
      newerDraft: isNewer ? newest.versionNumber : null,
      definition: definitionText(shell.parts, version),
      scenarios: hasScenarios ? scenariosText(shell.parts, listed) : undefined,
    }
  } catch (error) {
    if (!isNamed && isServiceError(error, 'VERSION_NOT_FOUND')) return undefined
    throw error
  }
}

interface NamedFile {
  readonly file: string
  readonly kind: Kind | undefined
  readonly procedureKey: string | undefined
}

/** The YAML files of a folder, and whose they are. One that cannot be read is nobody's. */
async function readNames(shell: Shell, folder: string): Promise<readonly NamedFile[]> {
  const names: NamedFile[] = []
  for (const file of listPlaybookFiles(folder).files) {
    const fields = await readFields(shell, file)
    const isScenarios = 'scenarios' in fields || 'procedure' in fields
    const key = isScenarios ? fields.procedure : fields.key
    const kind = isScenarios ? 'scenarios' : 'definition'
    names.push(
      typeof key === 'string'
        ? { file, kind, procedureKey: key }
        : { file, kind: undefined, procedureKey: undefined },
    )
  }
  return names
}

async function readFields(
  shell: Shell,
  file: string,
): Promise<{ readonly key?: unknown; readonly procedure?: unknown }> {
  try {
    const { value } = shell.parts.readDocument(await readText(file), file)
    return isJsonObject(value) ? value : {}
  } catch (error) {
    if (isServiceError(error, 'DOCUMENT_INVALID')) return {}
    if (isServiceError(error, 'FILE_UNREADABLE')) return {}
    throw error
  }
}

/** Keys have capital letters, digits and _ alone, so that no two of them have one name and none leads elsewhere. */
function defaultFile(folder: string, kind: Kind, procedureKey: string): string {
  const name = procedureKey.toLowerCase().replaceAll('_', '-')
  return join(folder, kind === 'definition' ? 'procedures' : 'scenarios', `${name}.yaml`)
}

async function compareFile(file: string, text: string): Promise<ExportedFile['result']> {
  if (!existsSync(file)) return 'written'
  try {
    return (await readText(file)) === text ? 'unchanged' : 'replaced'
  } catch (error) {
    // What is no text is another content.
    if (isServiceError(error, 'FILE_UNREADABLE')) return 'replaced'
    throw error
  }
}

async function writeFiles(folder: string, files: readonly ExportedFile[]): Promise<void> {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new ServiceError('FILE_UNWRITABLE', { file: folder, problem }, { cause: error })
  }
  for (const { file } of files) requireInside(folder, file)
  for (const { file, text, result } of files) {
    if (result !== 'unchanged') await writeFileWithin(folder, file, text)
  }
}
