import type { RunOutput } from '../operations/execution-output.ts'
import { label, labelled, labelWidth } from './labels.ts'
import { pad } from './table.ts'
import type { Terminal } from './terminal.ts'
import { cutToWidth, textWidth } from './text-width.ts'
import { valueLine } from './value-line.ts'

type Reply = NonNullable<RunOutput['reply']>

/** As much of a finding as says what it is about. */
const findingWidth = 160
/** Longer values are not padded to, so that one of them does not push all paths out of sight. */
const factWidth = 32

/** The reply, and below its label who wrote it: a model, or the built-in way and why no model. */
export function replyScreen(terminal: Terminal, reply: Reply): string {
  const author = terminal.style('quiet', terminal.wrap(`(${authorText(reply)})`, labelWidth))
  const indent = ' '.repeat(labelWidth)
  return [
    `${label(terminal, 'Reply')}${author}`,
    `${indent}${terminal.wrap(reply.text, labelWidth)}`,
  ].join('\n')
}

/** Each value that stands in the reply, with its place in the record and the step that it came from. */
export function factsScreen(terminal: Terminal, { facts }: Reply): string {
  const rows = facts.map(({ path, value, stepKey }) => ({
    value: valueLine(value),
    place: stepKey === null ? path : `${path}  (${stepKey})`,
  }))
  const width = Math.min(factWidth, Math.max(0, ...rows.map(({ value }) => textWidth(value))))
  const lines = new Set(
    rows.map(({ value, place }) => `${pad(value, width)}  ${terminal.style('quiet', place)}`),
  )
  return labelled(terminal, 'Facts', [...lines].join('\n'))
}

function authorText({ source, verification }: Reply): string {
  const { ok, findings, model, input } = verification
  const drafts = model?.attempts.length ?? 0
  if (source === 'model') {
    return `by ${model?.name ?? 'a model'}${drafts > 1 ? `, at draft ${drafts}` : ''}`
  }
  const reasons: string[] = []
  const last = model?.attempts.at(-1)
  if (model !== undefined && last !== undefined) {
    const what = last.result === 'refused' ? 'was refused' : 'gave no reply'
    reasons.push(`${model.name} ${what}${because(last.findings)}`)
  } else if (input !== undefined && input.taken.length < input.asked.length) {
    reasons.push(`${input.model} read no ${input.asked.join(', ')}${because(input.findings)}`)
  }
  if (!ok) reasons.push(`not in the approved wording${because(findings)}`)
  return ['built-in', ...reasons].join('; ')
}

/** The first finding stands for all: `--json` has the others. */
function because([first]: readonly string[]): string {
  return first === undefined ? '' : `: ${cutToWidth(first, findingWidth).replace(/\.$/, '')}`
}
