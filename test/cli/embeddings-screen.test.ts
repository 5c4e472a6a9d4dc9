import { expect, test } from 'vitest'
import { calibrationScreen } from '../../src/cli/embedding-commands.ts'
import { Terminal } from '../../src/cli/terminal.ts'

const sink = { write: () => {} }
const terminal = new Terminal({ out: sink, err: sink, environment: {}, json: false })
const measured = {
  model: 'use-v1',
  isStored: true,
  minSimilarity: 0.39,
  margin: 0.07,
  matchCount: 24,
  noMatchCount: 13,
  leftOut: { matchedElsewhere: 2, repeated: 6, beyondLimit: 0 },
  f1: 0.8,
  precision: 0.95,
  selected: 0.4,
}

test('a calibration says how many examples it left out, and why', () => {
  expect(calibrationScreen(measured, terminal)).toMatch(
    /Left out +2 that do not match and are a match of another playbook, 6 that stand there twice\n/,
  )
  const none = { matchedElsewhere: 0, repeated: 0, beyondLimit: 0 }
  expect(calibrationScreen({ ...measured, leftOut: none }, terminal)).not.toContain('Left out')
})

test('a calibration that came to nothing says what to do next', () => {
  expect(calibrationScreen({ ...measured, isStored: false }, terminal)).toMatch(
    /Next +what held before holds on\. .*calibrate again/,
  )
  expect(calibrationScreen(measured, terminal)).not.toContain('Next')
})
