import { describe, expect, test } from 'vitest'
import { selectionScreen } from '../../src/cli/selection-screen.ts'
import { Terminal } from '../../src/cli/terminal.ts'

type Selection = Parameters<typeof selectionScreen>[1]
type Candidate = Selection['candidates'][number]

const sink = { write: () => {} }
const terminal = new Terminal({ out: sink, err: sink, environment: {}, json: false })

function candidate(procedureKey: string, similarity: number, more: Partial<Candidate> = {}) {
  const parts = { literal: false, qualified: true, withinMargin: false, trackScore: 0 }
  return { procedureKey, versionNumber: 1, similarity, ...parts, ...more }
}

function shown(more: Partial<Selection>): string {
  return selectionScreen(terminal, {
    decision: 'ambiguous',
    procedureKey: null,
    versionNumber: null,
    similarity: null,
    candidates: [],
    minSimilarity: 0.39,
    margin: 0.07,
    calibrated: true,
    lead: null,
    model: 'use-v1',
    fellBack: false,
    ...more,
  })
}

const near = { withinMargin: true }

describe('the screen of a search', () => {
  test('says of a model that was never measured just that, and names no threshold', () => {
    const text = shown({
      calibrated: false,
      minSimilarity: 0,
      margin: 0,
      candidates: [candidate('A', 0.7, { qualified: false })],
    })

    expect(text).toContain('ambiguous: use-v1 is not measured, so nothing is selected')
    expect(text).not.toMatch(/0\.00|threshold/)
  })

  test('says in one line that it fell back, and on which model', () => {
    const selected = { decision: 'selected', procedureKey: 'A', fellBack: true } as const

    expect(shown({ ...selected, candidates: [candidate('A', 0.7)] })).toBe(
      [
        'Search      fell back on use-v1, because the model in use could not be asked',
        'Candidates',
        '  → A v1  0.70  selected',
      ].join('\n'),
    )
    expect(shown({ ...selected, fellBack: false })).not.toContain('fell back')
  })

  test('says when the track record has changed the order', () => {
    const [a, b] = [candidate('A', 0.7, near), candidate('B', 0.66, { ...near, trackScore: 0.5 })]

    expect(shown({ candidates: [b, a] })).toContain(
      'less than 0.07 ahead of the second, so nothing runs by itself; they are ordered by how their runs have ended',
    )
    expect(shown({ candidates: [a, b] })).not.toContain('ordered by')
  })

  test('does not call a word-for-word match near', () => {
    const far = candidate('A', 0.1, { qualified: false, literal: true })

    expect(shown({ candidates: [far] })).toContain(
      'ambiguous: a pattern stands in the message word for word, and no playbook is near enough',
    )
  })
})
