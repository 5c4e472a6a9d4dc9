import { checkDefinition } from '../checks/check-definition.ts'
import { procedureSet } from '../checks/procedure-set.ts'
import { loadToolRegistry } from '../context.ts'
import type { Definition } from '../domain/definition.ts'
import { isServiceError } from '../domain/errors.ts'
import { isJsonObject } from '../domain/json.ts'
import { parseDefinition } from '../domain/parse-definition.ts'
import { parseScenarioFile } from '../domain/parse-scenarios.ts'
import type { FileProblem, Problem } from '../domain/problem.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { ToolRegistry } from '../domain/tool-registry.ts'
import {
  runScenarios,
  type ScenarioResult,
  type SimulationReport,
} from '../simulation/run-scenarios.ts'
import { findSimulationPlan } from '../simulation/simulation-plan.ts'
import type { Command } from './command.ts'
import { type DocumentFile, listDocumentFiles } from './document-files.ts'
import { exitCodes, usageError } from './failures.ts'
import { readText } from './read-text.ts'
import type { ReadText, Shell } from './shell.ts'
import { simulationScreen } from './simulation-screen.ts'

interface Playbook {
  readonly file: string
  readonly document: ReadText
  readonly definition: Definition
}

interface ScenarioFile {
  readonly file: string
  readonly document: ReadText
  readonly procedureKey: string
  readonly scenarios: readonly Scenario[]
}

/** All that was found in the files. */
interface Found {
  readonly playbooks: Playbook[]
  readonly scenarioFiles: ScenarioFile[]
  readonly problems: FileProblem[]
  readonly others: string[]
}

export const simulate: Command = {
  path: 'simulate',
  summary: 'Run scenarios in files on the playbooks in files: no database, nothing is called',
  arguments: [
    {
      usage: '<FILE...>',
      text: 'playbooks and scenario files in YAML or JSON: files, folders, patterns, - for standard input',
    },
  ],
  options: [
    { usage: '--scenarios <FILE>', text: 'the scenario file, a folder or a pattern of them' },
  ],
  notes: [
    'Files of both sorts are told apart by what stands in them: a scenario file has procedure and scenarios.',
    'It exits with 0 when every scenario is as expected, with 1 when one is not, and with 2 when a file cannot be read as',
    'one or the other: then nothing is run. docs/scenarios.md has the format.',
  ].join('\n'),
  async run(shell, given) {
    const tools = await loadToolRegistry(shell.config)
    const extra = given.find('scenarios')
    const found = await readAll(
      shell,
      listDocumentFiles([...given.list('FILE'), ...(extra === undefined ? [] : [extra])]),
    )
    if (found.problems.length > 0) {
      return {
        output: { ok: false, problems: found.problems, procedures: [] },
        screen: found.problems.map(problemLine).join('\n'),
        exitCode: exitCodes.invalid[0],
      }
    }
    const runs = found.playbooks.flatMap((playbook) => runPlaybook(playbook, tools, found))
    const isGood = found.problems.length === 0 && runs.every(({ report }) => report.ok)
    return {
      output: {
        ok: isGood,
        problems: found.problems,
        procedures: runs.map(({ playbook, report, entries }) => ({
          procedureKey: playbook.definition.key,
          file: playbook.file,
          ...report,
          scenarios: report.scenarios.map((result, index) => locatedResult(result, entries[index])),
        })),
      },
      screen: [
        ...found.problems.map(problemLine),
        ...runs.map(({ playbook, report, entries }) =>
          [
            shell.terminal.style('heading', playbook.definition.key),
            screenOf(shell, report, entries),
          ].join('\n'),
        ),
      ].join('\n'),
      exitCode: isGood ? exitCodes.done[0] : exitCodes.internal[0],
    }
  },
}

/** One scenario, and where it stands. */
interface Entry {
  readonly source: ScenarioFile
  readonly index: number
  readonly scenario: Scenario
}

interface PlaybookRun {
  readonly playbook: Playbook
  readonly report: SimulationReport
  readonly entries: readonly Entry[]
}

function runPlaybook(
  playbook: Playbook,
  tools: ToolRegistry,
  { playbooks, scenarioFiles, problems }: Found,
): readonly PlaybookRun[] {
  const { definition, file, document } = playbook
  const entries = scenarioFiles
    .filter(({ procedureKey }) => procedureKey === definition.key)
    .flatMap((source) => source.scenarios.map((scenario, index) => ({ source, index, scenario })))
  const plan = findSimulationPlan(definition, (name) => tools.find(name))
  if (plan !== undefined) {
    const scenarios = entries.map(({ scenario }) => scenario)
    return [{ playbook, report: runScenarios(plan, scenarios), entries }]
  }
  const findContract = (name: string) => tools.find(name)?.contract
  const definitions = playbooks.map((one) => one.definition)
  const findings = checkDefinition(
    definition,
    findContract,
    procedureSet(definitions, findContract, 'unknown'),
  ).filter(({ severity }) => severity === 'error')
  problems.push(...document.locate(findings).map((problem) => ({ file, ...problem })))
  return []
}

function locatedResult(result: ScenarioResult, entry: Entry | undefined): object {
  if (entry === undefined) return result
  const { source } = entry
  const place = located(entry, [{ path: '', message: '' }])[0]
  return {
    file: source.file,
    line: place?.line,
    ...result,
    problems: located(entry, result.problems),
  }
}

function located({ source, index }: Entry, problems: readonly Problem[]): readonly Problem[] {
  return source.document.locate(
    problems.map((problem) => ({
      ...problem,
      path: problem.path === '' ? `scenarios[${index}]` : `scenarios[${index}].${problem.path}`,
    })),
  )
}

function screenOf(
  { terminal }: Shell,
  report: SimulationReport,
  entries: readonly Entry[],
): string {
  return simulationScreen(terminal, report, (index, problem) => {
    const entry = entries[index]
    const place = entry === undefined ? undefined : located(entry, [problem])[0]
    if (entry === undefined || place === undefined) return problem.path
    return `${entry.source.file}:${place.line ?? 1}:${place.column ?? 1} ${problem.path}`
  })
}

function problemLine({ file, path, message, line = 1, column = 1 }: FileProblem): string {
  const where = path === '' ? '' : `${path}: `
  return `${file}:${line}:${column} ${`${where}${message}`.replaceAll('\n', ' ')}`
}

async function readAll(shell: Shell, files: readonly DocumentFile[]): Promise<Found> {
  const found: Found = { playbooks: [], scenarioFiles: [], problems: [], others: [] }
  for (const one of files) await readOne(shell, one, found)
  const { playbooks, scenarioFiles, problems, others } = found
  if (others.length > 0) {
    shell.terminal.notice(
      `Left out, because they are no playbooks and no scenarios: ${others.join(', ')}`,
    )
  }
  const keys = playbooks.map(({ definition }) => definition.key)
  for (const { file, document, procedureKey } of scenarioFiles) {
    if (keys.includes(procedureKey)) continue
    const message = `there is no sound playbook ${procedureKey} among the files; name its file as well`
    const placed = document.locate([{ path: 'procedure', message }])
    problems.push(...placed.map((problem) => ({ file, ...problem })))
  }
  if (scenarioFiles.length === 0 && problems.length === 0) {
    throw usageError(
      'There are no scenarios in what was given.',
      'Name a scenario file, or give it with --scenarios.',
    )
  }
  return found
}

async function readOne(
  shell: Shell,
  { file, isNamed }: DocumentFile,
  { playbooks, scenarioFiles, problems, others }: Found,
): Promise<void> {
  const text = await readText(file)
  let document: ReadText
  try {
    document = shell.parts.readDocument(text, file === '-' ? 'standard input' : file)
  } catch (error) {
    if (!isServiceError(error, 'DOCUMENT_INVALID')) throw error
    problems.push(...error.details.problems.map((problem) => ({ file, ...problem })))
    return
  }
  const { value } = document
  const fields = isJsonObject(value) ? value : {}
  const refuse = (found: readonly Problem[]) => {
    problems.push(...document.locate(found).map((problem) => ({ file, ...problem })))
  }
  if ('scenarios' in fields || 'procedure' in fields) {
    const parsed = parseScenarioFile(value)
    if ('problems' in parsed) refuse(parsed.problems)
    else scenarioFiles.push({ file, document, ...parsed })
    return
  }
  if (!('key' in fields || 'steps' in fields) && !isNamed) {
    others.push(file)
    return
  }
  const parsed = parseDefinition(value)
  if ('problems' in parsed) refuse(parsed.problems)
  else playbooks.push({ file, document, definition: parsed.definition })
}
