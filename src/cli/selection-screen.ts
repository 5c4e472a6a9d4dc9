import type { z } from 'zod'
import type { selectionOutput } from '../operations/search-procedures.ts'
import { label, labelled } from './labels.ts'
import { pad } from './table.ts'
import type { Terminal } from './terminal.ts'

type Selection = z.infer<typeof selectionOutput>

/** The candidates with their scores, and what was decided about them. */
export function selectionScreen(terminal: Terminal, selection: Selection): string {
  const { decision, candidates, procedureKey, minSimilarity } = selection
  const width = Math.max(0, ...candidates.map((candidate) => candidateName(candidate).length))
  const lines = candidates.map((candidate, index) => {
    const isSelected = candidate.procedureKey === procedureKey
    const name = pad(candidateName(candidate), width)
    const score = similarityText(candidate.similarity)
    const why = [
      isSelected ? 'selected' : '',
      candidate.literal ? 'named word for word' : '',
      candidate.qualified ? '' : `below the threshold of ${minSimilarity.toFixed(2)}`,
    ].filter((reason) => reason !== '')
    // Numbered where a person may have to choose.
    const number = decision === 'ambiguous' ? String(index + 1) : ' '
    const mark = isSelected ? terminal.style('good', '→') : number
    return `  ${mark} ${terminal.style(isSelected ? 'name' : 'quiet', name)}  ${score}  ${terminal.style('quiet', why.join(', '))}`.trimEnd()
  })
  const verdict = {
    selected: [],
    ambiguous: [
      labelled(
        terminal,
        'Decision',
        `ambiguous: the best is less than ${selection.margin.toFixed(2)} ahead of the second, so nothing runs by itself`,
      ),
    ],
    no_match: [labelled(terminal, 'Decision', 'no match: no approved playbook fits')],
  }[decision]
  const head = label(terminal, 'Candidates') + (lines.length === 0 ? 'none' : '')
  return [head.trimEnd(), ...lines, ...verdict].join('\n')
}

function candidateName(candidate: Selection['candidates'][number]): string {
  return `${candidate.procedureKey} v${candidate.versionNumber}`
}

/** A similarity in hundredths. */
export function similarityText(similarity: number): string {
  return similarity.toFixed(2).replace('-0.00', '0.00')
}
