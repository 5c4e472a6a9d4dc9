import { listScenarios } from '../operations/list-scenarios.ts'
import { setScenarios } from '../operations/set-scenarios.ts'
import { simulateVersion } from '../operations/simulate-version.ts'
import type { Answer, Command, Given } from './command.ts'
import { exitCodes } from './failures.ts'
import { tellingEnded } from './next-step.ts'
import { readScenarios } from './read-scenarios.ts'
import { readDocumentFile } from './read-text.ts'
import type { Shell } from './shell.ts'
import { simulationScreen } from './simulation-screen.ts'
import { table } from './table.ts'
import { countText } from './value-line.ts'
import { scenariosText } from './version-text.ts'

const key = { usage: '<KEY>', text: 'the key of a procedure' }
const number = {
  usage: '[NUMBER]',
  text: 'the number of a version (default: the active one, else the newest)',
}
const scenarioFile = 'a scenario file in YAML or JSON, - for standard input'

const scenarios: Command = {
  path: 'procedures scenarios',
  summary: listScenarios.summary,
  arguments: [key, number],
  options: [
    { usage: '--yaml', text: 'print them as a scenario file' },
    { usage: '--set <FILE>', text: `${scenarioFile}, whose scenarios a draft is to have` },
    {
      usage: '--revision <N>',
      text: 'with --set: the revision that they are made for; another one there is a conflict (default: the one there is)',
    },
  ],
  notes: [
    'Only the scenarios of a draft can be set. From one shell to another:',
    '',
    '  stepwarden procedures scenarios KEY 2 --yaml > scenarios.yaml',
    '  stepwarden procedures scenarios KEY 2 --set scenarios.yaml',
  ].join('\n'),
  async run(shell, given) {
    const file = given.find('set')
    const procedureKey = given.text('KEY')
    const stored = await shell.call(listScenarios, {
      procedureKey,
      versionNumber: given.number('NUMBER'),
    })
    if (file !== undefined) return set(shell, given, stored, file)
    if (given.has('yaml')) {
      shell.terminal.printRaw(scenariosText(shell.parts, stored))
      return { output: stored, screen: '' }
    }
    const rows = stored.scenarios.map(({ name, text = '', expect }) => [name, expect.end, text])
    return {
      output: stored,
      screen: [
        `Version ${stored.versionNumber} of ${procedureKey}, ${stored.status}, revision ${stored.revision}.`,
        table(
          shell.terminal,
          ['SCENARIO', 'END', 'ABOUT'],
          rows,
          'It has no scenarios. --set FILE gives it some; docs/scenarios.md has the format.',
        ),
      ].join('\n'),
    }
  },
}

const simulate: Command = {
  path: 'procedures simulate',
  summary: simulateVersion.summary,
  arguments: [key, number],
  options: [
    { usage: '--scenarios <FILE>', text: `${scenarioFile}, instead of the stored ones` },
    { usage: '--file <FILE>', text: 'a definition to run instead of the stored one' },
  ],
  notes: 'It exits with 0 when every scenario is as expected, and with 1 when one is not.',
  async run(shell, given) {
    const procedureKey = given.text('KEY')
    const [scenarioPath, definitionPath] = [given.find('scenarios'), given.find('file')]
    const definition =
      definitionPath === undefined ? undefined : await readDocumentFile(shell, definitionPath)
    const list =
      scenarioPath === undefined
        ? undefined
        : await readScenarios(shell, scenarioPath, procedureKey)
    const output = await shell.call(simulateVersion, {
      procedureKey,
      versionNumber: given.number('NUMBER'),
      definition: definition?.value,
      scenarios: list?.scenarios,
    })
    const version = output.versionNumber === null ? 'as given' : `version ${output.versionNumber}`
    return {
      output,
      screen: [
        `${shell.terminal.style('heading', procedureKey)}  ${version}`,
        simulationScreen(shell.terminal, output),
      ].join('\n'),
      exitCode: output.ok ? exitCodes.done[0] : exitCodes.internal[0],
    }
  },
}

export const scenarioCommands: readonly Command[] = [scenarios, simulate]

interface Stored {
  readonly procedureKey: string
  readonly versionNumber: number
  readonly revision: number
}

async function set(
  shell: Shell,
  given: Given,
  { procedureKey, versionNumber, revision }: Stored,
  file: string,
): Promise<Answer> {
  const { scenarios: list, source } = await readScenarios(shell, file, procedureKey)
  const { saved: output, lines } = await tellingEnded(shell, { procedureKey, versionNumber }, () =>
    shell.call(setScenarios, {
      procedureKey,
      versionNumber,
      revision: given.number('revision') ?? revision,
      scenarios: list,
      source,
    }),
  )
  return {
    output,
    screen: [
      `Version ${versionNumber} of ${procedureKey} has ${countText(output.scenarioCount, 'scenario')} now, at revision ${output.revision}.`,
      ...lines,
    ].join('\n'),
  }
}
