import { describe, expect, test } from 'vitest'
import { timelineScreen } from '../../src/cli/run-screen.ts'
import { Terminal } from '../../src/cli/terminal.ts'
import type { RunDetailOutput } from '../../src/operations/execution-output.ts'
import { shownExecution as execution } from './shown-execution.ts'

const sink = { write: () => {} }
const terminal = new Terminal({ out: sink, err: sink, environment: {}, json: false })
const at = '2026-05-03T10:12:00.000Z'
const waitsFor = { stepKey: 'look', attempt: 2, until: '2026-05-03T10:22:00.000Z' }

function shown(
  parts: Partial<typeof execution>,
  more: Partial<Omit<RunDetailOutput, 'execution'>> = {},
): string {
  return timelineScreen(terminal, {
    execution: { ...execution, outcome: null, ...parts },
    steps: [],
    reply: null,
    ...more,
  })
}

const act = (action: string, actorId: string) =>
  ({ action, at, actorId, actorKind: 'human', origin: 'cli' }) as const

describe('the screen of a run that has not ended says', () => {
  test.each([
    [
      'until when it waits, and for which attempt',
      { status: 'waiting', waitsFor: { kind: 'timer', ...waitsFor } },
      'at 2026-05-03 10:22:00Z, when a worker makes attempt 2 of step look',
    ],
    [
      'that nobody has it',
      { status: 'running', waitsFor: { kind: 'worker', ...waitsFor } },
      "with the next worker that is free ('stepwarden worker' is one): nobody has it now",
    ],
    ['who has it', { status: 'running', workerId: 'wrk_1' }, 'with wrk_1, which has it'],
    [
      'what a cancel still lets happen',
      { status: 'running', workerId: 'wrk_1', cancelRequested: true },
      'until the step that is going is done; then it is cancelled, unless that was its last step',
    ],
  ] as const)('%s', (_what, parts, text) => {
    expect(shown(parts)).toContain(`Goes on     ${text}\n`.trimEnd())
  })

  test('that nobody works on it, although a worker that is gone has it', () => {
    const had = { status: 'running', workerId: 'wrk_1' } as const

    const text = shown(had, { worker: { lastHeardAt: at, isGone: true } })
    const toBePaused = { ...had, pauseRequested: true }
    const unheard = shown(toBePaused, { worker: { lastHeardAt: null, isGone: true } })

    const next =
      "Goes on     with the next worker that is free ('stepwarden worker' is one): nobody"
    expect(text.replaceAll(/\n +/g, ' ')).toContain(
      `${next} works on it, for wrk_1 is gone, last heard of at 2026-05-03 10:12:00Z`,
    )
    expect(unheard.replaceAll(/\n +/g, ' ')).toContain('for wrk_1 is gone, and is paused then')
    expect(shown(had, { worker: { lastHeardAt: at, isGone: false } })).toContain('which has it')
  })

  test('who paused it', () => {
    const parts = { status: 'paused', waitsFor: { kind: 'resume', ...waitsFor } } as const
    const acts = [act('execution.pause_requested', 'ann'), act('execution.resumed', 'bob')]

    const text = shown(parts, { acts: [...acts, act('execution.pause_requested', 'kim')] })

    expect(text).toContain(
      `Goes on     with 'stepwarden executions resume ${execution.id}': pause asked for by kim (cli) at 2026-05-03 10:12:00Z`,
    )
    expect(text).toContain(
      [
        'Steered     pause asked for by ann (cli) at 2026-05-03 10:12:00Z',
        '            resumed by bob (cli) at 2026-05-03 10:12:00Z',
        '            pause asked for by kim (cli) at 2026-05-03 10:12:00Z',
      ].join('\n'),
    )
  })
})

test('the screen of a run that a switch holds says what lets it go on, and why it is held', () => {
  const parts = { status: 'paused', waitsFor: { kind: 'resume', ...waitsFor } } as const
  const reason = 'It pays twice.'
  const heldBy = { kind: 'tool', name: 'pay', reason, by: 'ann', since: at } as const

  const text = shown(parts, { heldBy })

  expect(text.replaceAll(/\n +/g, ' ')).toContain(
    "Goes on     with 'stepwarden tools allow pay': the tool was stopped by ann at 2026-05-03 10:12:00Z: It pays twice.",
  )
})

test('the screen says how often a run was taken over, and what each attempt came to', () => {
  const failed = { attempt: 1, result: 'failed', code: 'tool_failed', message: 'closed' } as const
  const step = {
    sequence: 1,
    key: 'look',
    kind: 'tool',
    status: 'completed',
    action: 'Look it up',
    tool: 'look_up',
    input: null,
    output: { found: true },
    error: null,
    attempts: 2,
    failedAttempts: [{ ...failed, endedAt: at }],
    iteration: '',
    exchange: [],
    startedAt: at,
    endedAt: at,
  } as const

  const text = shown({ takeOverCount: 2 }, { steps: [step] })

  expect(text).toContain('Taken over  2 times: its worker was lost, or failed with it\n')
  expect(text).toContain('try    1: failed, 2026-05-03 10:12:00Z: closed (tool_failed)\n')
  expect(text).toContain('out    found: true (after 2 attempts)\n')
})
