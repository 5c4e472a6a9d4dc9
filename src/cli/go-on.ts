import type { RunOutput } from '../operations/execution-output.ts'
import { label } from './labels.ts'
import type { Terminal } from './terminal.ts'

/**
 * How to go on with a run that lacked input: the command that gives it. `command` is what was called, by the words behind
 * `stepwarden`; undefined in a session. Nothing for a run that lacked none.
 */
export function goOnLines(
  terminal: Terminal,
  { reason, procedureKey, inputSources }: RunOutput['execution'],
  command: string | undefined,
): readonly string[] {
  if (reason?.code !== 'missing_input') return []
  const given = Object.entries(inputSources ?? {}).flatMap(([name, source]) =>
    source === 'caller' ? [name] : [],
  )
  const names = [...new Set([...given, ...(reason.fields ?? [])])]
  const input = names.map((name) => `${JSON.stringify(name)}: "…"`).join(', ')
  // Not laid out in lines, so that it can be copied.
  const line = (name: string, text: string) => `${label(terminal, name)}${text}`
  return command === undefined
    ? [
        line('Go on', 'type the message again, with what is missing in it, or'),
        line('', `/executions start ${procedureKey} --input '{${input}}'`),
      ]
    : [line('Go on', `stepwarden ${command} --input '{${input}}'`)]
}
