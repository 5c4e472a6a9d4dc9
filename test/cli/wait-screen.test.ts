import { describe, expect, test } from 'vitest'
import { timelineScreen } from '../../src/cli/run-screen.ts'
import { Terminal } from '../../src/cli/terminal.ts'
import type { RunOutput } from '../../src/operations/execution-output.ts'
import { shownExecution } from './shown-execution.ts'

type Step = RunOutput['steps'][number]

const sink = { write: () => {} }
const terminal = new Terminal({ out: sink, err: sink, environment: {}, json: false })
const by = { id: 'ann', kind: 'human' } as const
const at = '2026-05-03T10:12:00.000Z'

const asking: Step = {
  sequence: 2,
  key: 'code',
  kind: 'ask',
  status: 'waiting',
  action: 'Ask for the code',
  tool: null,
  input: {
    from: 'customer',
    message: 'Which code?',
    deadline: '2026-05-05T10:11:12.000Z',
    remindAt: '2026-05-04T10:11:12.000Z',
  },
  output: null,
  error: null,
  attempts: 0,
  failedAttempts: [],
  iteration: '3',
  exchange: [],
  startedAt: at,
  endedAt: null,
}
const approving: Step = {
  ...asking,
  key: 'yes',
  kind: 'approval',
  iteration: '',
  input: { from: 'group:desk', show: { amount: 7 }, showHash: 'abc', quorum: 2, deadline: null },
}

function shown(step: Step, parts: Partial<RunOutput['execution']> = {}): string {
  const execution = { ...shownExecution, status: 'waiting', outcome: null, ...parts } as const
  return timelineScreen(terminal, { execution, steps: [step], reply: null })
}

describe('the screen of a step that waits says', () => {
  test('what is asked of whom until when, in which round, and the command that answers', () => {
    const text = shown(asking)

    expect(text).toContain('…  2  code[3]  ask')
    expect(text).toContain(
      'asks   the customer, until 2026-05-05 10:11:12Z, with a reminder at 2026-05-04 10:11:12Z\n        says   Which code?\n',
    )
    expect(text).toContain(
      [
        'Goes on     with an answer of the customer at step code[3], until 2026-05-05 10:11:12Z',
        `            stepwarden executions answer ${shownExecution.id} code --iteration 3 --text "…"`,
      ].join('\n'),
    )
  })

  test('what is to be approved, by how many, with its hash', () => {
    const exchange = [{ kind: 'approved', at, by, showHash: 'abc', comment: 'fine' }] as const
    const text = shown({ ...approving, exchange })

    expect(text).toContain(
      [
        '        asks   the group desk, 2 of them, without a deadline',
        '        shows  amount: 7',
        '        hash   abc',
        '        said   2026-05-03 10:12:00Z: approved by ann: fine',
      ].join('\n'),
    )
    expect(text).toContain(`stepwarden executions approve ${shownExecution.id} yes --shown abc\n`)
    expect(text).toContain(`stepwarden executions deny ${shownExecution.id} yes --comment "…"`)
  })

  test('that somebody else must decide, without a command that would be refused', () => {
    const text = shown({ ...approving, notYou: 'it asks the group desk' })

    expect(text.replaceAll(/\n +/g, ' ')).toContain(
      'Goes on     with a yes or a no of the group desk at step yes; somebody else must decide: it asks the group desk',
    )
    expect(text).not.toContain('stepwarden executions approve')
  })

  test('the form of an answer that is no word', () => {
    const answer = { type: 'object', properties: { amount: { type: 'number' } } }

    expect(shown({ ...asking, answer })).toContain(`--iteration 3 --answer '{"amount": …}'`)
  })

  test('what was said meanwhile, by whom and when', () => {
    const unfit = { kind: 'unfit', at, by, text: 'no idea', problems: ['answer: is no code'] }
    const bot = { id: 'bot', kind: 'ai' }
    const exchange = [{ kind: 'reminded', at }, unfit, { kind: 'answered', at, by: bot }] as const
    const text = shown({ ...asking, exchange: exchange as unknown as Step['exchange'] })

    expect(text).toContain('said   2026-05-03 10:12:00Z: a reminder was due\n')
    expect(text).toContain('ann said "no idea", which does not fit: answer: is no code\n')
    expect(text).toContain('answered by bot (ai)\n')
  })

  test('of a write, what the tool would be given, whatever its members are called', () => {
    const input = { from: 'customer', message: 'hello', deadline: 'soon' }
    const text = shown({ ...asking, kind: 'tool', tool: 'send', iteration: '', input })

    expect(text).toContain('asks   an agent, before it is called\n')
    expect(text).toContain('in     from: customer, message: hello, deadline: soon\n')
    expect(text).toContain('Goes on     with a yes or a no of an agent at step code\n')
  })
})

describe('the screen of a run that waits for nobody says', () => {
  test.each([
    ['call', { procedure: 'REFUND' }, 'when the run that step code[3] has called has ended'],
    ['wait', { until: '2026-05-05T10:11:12.000Z' }, 'at 2026-05-05 10:11:12Z, when step code[3]'],
  ])('when a %s is over', (kind, input, text) => {
    const wakeAt = '2026-05-05T10:11:12.000Z'

    expect(shown({ ...asking, kind, input }, { wakeAt })).toContain(`Goes on     ${text}`)
  })
})

test('a run that is paused while a step waits says how it is resumed', () => {
  const waitsFor = { kind: 'resume', stepKey: null, attempt: null, until: null } as const

  expect(shown(asking, { status: 'paused', waitsFor })).toContain(
    `Goes on     with 'stepwarden executions resume ${shownExecution.id}'`,
  )
})
