import { checkDefinition } from '../checks/check-definition.ts'
import { procedureSet } from '../checks/procedure-set.ts'
import { loadToolRegistry } from '../context.ts'
import type { Definition } from '../domain/definition.ts'
import { isServiceError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { isJsonObject } from '../domain/json.ts'
import { parseDefinition } from '../domain/parse-definition.ts'
import type { Problem } from '../domain/problem.ts'
import type { Command } from './command.ts'
import { type DocumentFile, listDocumentFiles } from './document-files.ts'
import { usageError } from './failures.ts'
import { readText } from './read-text.ts'
import { sarifLog } from './sarif.ts'
import type { ReadText, Shell } from './shell.ts'
import type { Terminal } from './terminal.ts'
import { countText } from './value-line.ts'

/** A document that was read; one that is no definition brings what is wrong with it. */
interface ReadFile {
  readonly file: string
  readonly key: string | null
  readonly document: ReadText | undefined
  readonly definition: Definition | undefined
  readonly findings: readonly Finding[]
}

export const check: Command = {
  path: 'check',
  summary: 'Prove playbooks in files before they are saved: no database, nothing is run',
  arguments: [
    {
      usage: '<FILE...>',
      text: "definitions in YAML or JSON: files, folders, patterns such as 'playbooks/**/*.yaml', - for standard input",
    },
  ],
  options: [
    { usage: '--strict', text: 'warnings count as errors' },
    { usage: '--sarif', text: 'answer in SARIF 2.1.0, for code hosts and editors' },
  ],
  notes: [
    'It checks against the tools of the configuration, and calls against the other files that are given.',
    'It exits with 0 when there are no errors, and with 1 when there are. docs/checks.md explains each rule.',
  ].join('\n'),
  async run(shell, given) {
    const { terminal } = shell
    const tools = await loadToolRegistry(shell.config)
    const files = await readAll(shell, listDocumentFiles(given.list('FILE')))
    const findContract = (name: string) => tools.find(name)?.contract
    const definitions = files.flatMap(({ definition }) => definition ?? [])
    const findProcedure = procedureSet(definitions, findContract, 'unknown')
    const checked = files.map(({ file, key, document, definition, findings }) => {
      const found =
        definition === undefined ? [] : checkDefinition(definition, findContract, findProcedure)
      const located = [...findings, ...(document?.locate(found) ?? [])]
      return { file, key, findings: located.sort(byPlace) }
    })
    const all = checked.flatMap(({ findings }) => findings)
    const errors = all.filter(({ severity }) => severity === 'error').length
    const warnings = all.length - errors
    const isGood = errors === 0 && (warnings === 0 || !given.has('strict'))
    const exitCode = isGood ? 0 : 1
    if (given.has('sarif')) {
      const output = sarifLog(checked)
      if (!terminal.json) terminal.printJson(output)
      return { output, screen: '', exitCode }
    }
    return {
      output: { ok: isGood, errors, warnings, files: checked },
      screen: [
        ...checked.flatMap(({ file, findings }) =>
          findings.map((finding) => findingLine(terminal, file, finding)),
        ),
        verdict(terminal, checked.length, errors, warnings),
      ].join('\n'),
      exitCode,
    }
  },
}

function byPlace(a: Finding, b: Finding): number {
  return (a.line ?? 1) - (b.line ?? 1) || (a.column ?? 1) - (b.column ?? 1)
}

async function readAll(shell: Shell, files: readonly DocumentFile[]): Promise<readonly ReadFile[]> {
  const read: ReadFile[] = []
  const others: string[] = []
  for (const one of files) {
    const found = await readOne(shell, one)
    if (found === undefined) others.push(one.file)
    else read.push(found)
  }
  if (others.length > 0) {
    shell.terminal.notice(`Left out, because they are no playbooks: ${others.join(', ')}`)
  }
  if (read.length === 0) {
    throw usageError('There is no playbook in what was given.', 'Name a file or another folder.')
  }
  return read
}

/** Reads a file; undefined for one of a folder that is about something else. */
async function readOne(
  shell: Shell,
  { file, isNamed }: DocumentFile,
): Promise<ReadFile | undefined> {
  const text = await readText(file)
  let document: ReadText
  try {
    document = shell.parts.readDocument(text, file === '-' ? 'standard input' : file)
  } catch (error) {
    if (!isServiceError(error, 'DOCUMENT_INVALID')) throw error
    const findings = asFindings('document-invalid', error.details.problems)
    return { file, key: null, document: undefined, definition: undefined, findings }
  }
  const { value } = document
  const isPlaybook = isJsonObject(value) && ('key' in value || 'steps' in value)
  if (!isPlaybook && !isNamed) return undefined
  const key = isJsonObject(value) && typeof value.key === 'string' ? value.key : null
  const parsed = parseDefinition(value)
  if ('definition' in parsed) {
    return { file, key, document, definition: parsed.definition, findings: [] }
  }
  const findings = document.locate(asFindings('definition-invalid', parsed.problems))
  return { file, key, document, definition: undefined, findings }
}

function asFindings(
  rule: 'document-invalid' | 'definition-invalid',
  problems: readonly Problem[],
): readonly Finding[] {
  return problems.map((problem) => ({ ...problem, rule, severity: 'error' }))
}

/** `path:line:column severity rule message`, which editors and other tools can follow. */
function findingLine(terminal: Terminal, file: string, finding: Finding): string {
  const { line = 1, column = 1, severity, rule, path, message } = finding
  const tone = severity === 'error' ? 'bad' : 'care'
  const where = path === '' ? '' : `${path}: `
  const text = `${where}${message}`.replaceAll('\n', ' ')
  return `${file}:${line}:${column} ${terminal.style(tone, severity)} ${rule} ${text}`
}

function verdict(terminal: Terminal, files: number, errors: number, warnings: number): string {
  const where = `in ${countText(files, 'file')}`
  if (errors + warnings === 0)
    return `${terminal.style('good', '✓')} The checks found nothing ${where}.`
  return `${countText(errors, 'error')}, ${countText(warnings, 'warning')} ${where}.`
}
