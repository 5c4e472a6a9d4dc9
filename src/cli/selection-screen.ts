import type { z } from 'zod'
import type { selectionOutput } from '../operations/search-procedures.ts'
import { label, labelled } from './labels.ts'
import { pad } from './table.ts'
import type { Terminal } from './terminal.ts'

type Selection = z.infer<typeof selectionOutput>

/** The candidates with their scores, and what was decided about them. */
export function selectionScreen(terminal: Terminal, selection: Selection): string {
  const { decision, candidates, procedureKey, minSimilarity, calibrated } = selection
  const width = Math.max(0, ...candidates.map((candidate) => candidateName(candidate).length))
  const lines = candidates.map((candidate, index) => {
    const isSelected = candidate.procedureKey === procedureKey
    const name = pad(candidateName(candidate), width)
    const score = similarityText(candidate.similarity)
    const why = [
      isSelected ? 'selected' : '',
      candidate.literal ? 'named word for word' : '',
      candidate.qualified || !calibrated
        ? ''
        : `below the threshold of ${minSimilarity.toFixed(2)}`,
    ].filter((reason) => reason !== '')
    // Numbered where a person may have to choose.
    const number = decision === 'ambiguous' ? String(index + 1) : ' '
    const mark = isSelected ? terminal.style('good', '→') : number
    return `  ${mark} ${terminal.style(isSelected ? 'name' : 'quiet', name)}  ${score}  ${terminal.style('quiet', why.join(', '))}`.trimEnd()
  })
  const head = label(terminal, 'Candidates') + (lines.length === 0 ? 'none' : '')
  const verdict = decisionText(selection)
  return [
    ...(selection.fellBack ? [labelled(terminal, 'Search', fallBackText(selection))] : []),
    head.trimEnd(),
    ...lines,
    ...(verdict === undefined ? [] : [labelled(terminal, 'Decision', verdict)]),
  ].join('\n')
}

/** That the model in use gave nothing, and which one did. */
export function fallBackText({ model }: Pick<Selection, 'model'>): string {
  return `fell back on ${model}, because the model in use could not be asked`
}

function decisionText(selection: Selection): string | undefined {
  const { decision, candidates, margin, calibrated, model } = selection
  if (decision === 'selected') return undefined
  if (decision === 'no_match') return 'no match: no approved playbook fits'
  if (!calibrated) return `ambiguous: ${model} is not measured, so nothing is selected`
  const why = candidates.some(({ qualified }) => qualified)
    ? `the best is less than ${margin.toFixed(2)} ahead of the second`
    : 'a pattern stands in the message word for word, and no playbook is near enough'
  const isReordered = candidates
    .filter(({ withinMargin }) => withinMargin)
    .some(({ similarity }, index, near) => similarity > (near[index - 1]?.similarity ?? 1))
  const order = isReordered ? '; they are ordered by how their runs have ended' : ''
  return `ambiguous: ${why}, so nothing runs by itself${order}`
}

function candidateName(candidate: Selection['candidates'][number]): string {
  return `${candidate.procedureKey} v${candidate.versionNumber}`
}

/** A similarity in hundredths. */
export function similarityText(similarity: number): string {
  return similarity.toFixed(2).replace('-0.00', '0.00')
}
