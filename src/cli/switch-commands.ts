import type { z } from 'zod'
import { allowProcedure } from '../operations/allow-procedure.ts'
import { allowTool } from '../operations/allow-tool.ts'
import { listTools } from '../operations/list-tools.ts'
import { stopProcedure } from '../operations/stop-procedure.ts'
import { stopTool } from '../operations/stop-tool.ts'
import { type Command, operationCommand } from './command.ts'
import { stoppedText } from './stopped-text.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'
import { stepName } from './wait-screen.ts'

const key = { usage: '<KEY>', text: 'the key of a procedure' }
const tool = { usage: '<NAME>', text: 'the name of a tool' }
const reason = { usage: '--reason <TEXT>', text: 'why; whoever meets the switch reads it' }
const notes = `Nothing can be started from then on. Runs that go on begin no further write and are paused; what they had begun is let
finish, and is listed. 'executions resume' does not let them go on, and 'allow' does.`

const stopOne = operationCommand({
  path: 'procedures stop',
  operation: stopProcedure,
  arguments: [key],
  options: [reason],
  notes,
  input: (given) => ({ procedureKey: given.text('KEY'), reason: given.find('reason') }),
  screen: stopScreen,
})

const allowOne = operationCommand({
  path: 'procedures allow',
  operation: allowProcedure,
  arguments: [key],
  input: (given) => ({ procedureKey: given.text('KEY') }),
  screen: allowScreen,
})

const list = operationCommand({
  path: 'tools list',
  operation: listTools,
  input: () => ({}),
  screen: ({ items }, terminal) =>
    table(
      terminal,
      ['TOOL', 'EFFECT', 'CONTRACT', 'USED BY', 'STOPPED'],
      items.map((item) => [
        item.tool,
        item.effect ?? 'not here',
        item.contractHash?.slice(0, 12) ?? '–',
        item.usedBy
          .map(({ procedureKey, versionNumber }) => `${procedureKey} v${versionNumber}`)
          .join(', ') || '–',
        item.stopped === null ? '–' : stoppedText(item.stopped),
      ]),
      'No tools. STEPWARDEN_CONFIG names the module that exports them.',
    ),
})

const stopTools = operationCommand({
  path: 'tools stop',
  operation: stopTool,
  arguments: [tool],
  options: [reason],
  notes,
  input: (given) => ({ tool: given.text('NAME'), reason: given.find('reason') }),
  screen: stopScreen,
})

const allowTools = operationCommand({
  path: 'tools allow',
  operation: allowTool,
  arguments: [tool],
  input: (given) => ({ tool: given.text('NAME') }),
  screen: allowScreen,
})

export const switchCommands: readonly Command[] = [stopOne, allowOne, list, stopTools, allowTools]

function stopScreen(
  { stopped, heldCount, writesInFlight }: z.infer<typeof stopProcedure.output>,
  terminal: Terminal,
): string {
  const { kind, name } = stopped
  const allow = `stepwarden ${kind === 'tool' ? 'tools' : 'procedures'} allow ${name}`
  return [
    `${kind === 'tool' ? `What uses ${name}` : name} cannot be started from now on. ${countText(heldCount, 'run')} held.`,
    ...(writesInFlight.length === 0
      ? ['No write is in flight.']
      : [
          `${countText(writesInFlight.length, 'write')} in flight, let finish and recorded:`,
          table(
            terminal,
            ['EXECUTION', 'STEP', 'TOOL', 'SINCE', 'PLAYBOOK'],
            writesInFlight.map((write) => [
              write.executionId,
              stepName(write.stepKey, write.iteration),
              write.tool,
              instantText(write.startedAt) ?? '',
              `${write.procedureKey} v${write.versionNumber}`,
            ]),
            '',
          ),
        ]),
    `'${allow}' lets it run again.`,
  ].join('\n')
}

function allowScreen({ name, heldCount }: z.infer<typeof allowProcedure.output>): string {
  const held =
    heldCount === 0
      ? 'No run was held for it.'
      : `${countText(heldCount, 'run')} that ${heldCount === 1 ? 'was' : 'were'} held can go on, with the next worker that is free.`
  return `${name} may run again. ${held}`
}
