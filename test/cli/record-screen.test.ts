import { describe, expect, test } from 'vitest'
import { goOnLines } from '../../src/cli/go-on.ts'
import { timelineScreen } from '../../src/cli/run-screen.ts'
import { Terminal } from '../../src/cli/terminal.ts'
import type { RunOutput } from '../../src/operations/execution-output.ts'
import { shownExecution as execution } from './shown-execution.ts'

type Execution = RunOutput['execution']
type Verification = NonNullable<RunOutput['reply']>['verification']

const sink = { write: () => {} }
const terminal = new Terminal({ out: sink, err: sink, environment: {}, json: false })

function shown(
  parts: Partial<Execution>,
  verification: Verification = { ok: true, findings: [] },
  source: 'built_in' | 'model' = 'built_in',
): string {
  return timelineScreen(terminal, {
    execution: { ...execution, ...parts },
    steps: [],
    reply: {
      text: 'It is on its way.',
      source,
      facts: [
        { path: 'input.id', value: 'T-1', stepKey: null },
        { path: 'steps.look.output.state', value: 'processing', stepKey: 'look' },
        { path: 'input.id', value: 'T-1', stepKey: null },
      ],
      verification,
    },
  })
}

describe('the screen of a run says', () => {
  test('why this playbook', () => {
    const { selection } = execution
    const person = selection && { ...selection, chosenBy: 'person' as const, fellBack: true }

    expect(shown({})).toContain(
      'Chosen by   search: REFUND v2 (0.70, word for word), PARCEL v1 (0.40); needed: 0.39 and a lead of 0.07; model use-v1\n',
    )
    expect(shown({ selection: person && { ...person, decision: 'no_match' } })).toMatch(
      /Chosen by +a person; search said no match: REFUND.*model use-v1, as the model in use could not be asked\n/,
    )
    expect(shown({ selection: null })).toMatch(/Chosen by +the caller, by its key/)
  })

  test('what was erased, and nothing else of it', () => {
    const erasedAt = '2026-05-04T00:00:00.000Z'
    const erased = shown({ erasedAt, selection: null, input: {}, inputSources: { id: 'text' } })

    expect(erased).toMatch(/^Chosen by +erased$/m)
    expect(erased).toMatch(/^Input +id: erased {2}\(from the ticket\)$/m)
  })

  test('where each value of the input came from', () => {
    const input = { model: 'gpt-test', asked: ['order'], taken: ['order'], findings: [] }

    expect(shown({}, { ok: true, findings: [], input })).toContain(
      [
        'Input       id: T-1  (from the ticket)',
        '            size: 3  (from the caller)',
        '            name: Ann  (from the context)',
        '            order: 47-X  (from the ticket, as gpt-test read it)',
        '',
      ].join('\n'),
    )
    expect(shown({ input: {}, inputSources: null })).toMatch(/Input +nothing\n/)
  })

  test('each fact of the reply once, with its place and step', () => {
    expect(shown({})).toContain(
      [
        'Facts       T-1         input.id',
        '            processing  steps.look.output.state  (look)',
      ].join('\n'),
    )
  })

  const attempts = (...all: NonNullable<Verification['model']>['attempts']) => ({
    ok: true,
    findings: [],
    model: { name: 'gpt-test', attempts: all },
  })
  const refused = { result: 'refused', findings: ['Sentence 1 says what no fact says.'] } as const
  test.each([
    ['(built-in)', { ok: true, findings: [] }, 'built_in'],
    ['(by gpt-test)', attempts({ result: 'sent', findings: [] }), 'model'],
    ['(by gpt-test, at draft 2)', attempts(refused, { result: 'sent', findings: [] }), 'model'],
    [
      '(built-in; gpt-test was refused: Sentence 1 says what no fact says)',
      attempts(refused, refused),
      'built_in',
    ],
    [
      '(built-in; gpt-test gave no reply: The model server answers 401: check OPENAI_API_KEY)',
      attempts({
        result: 'failed',
        findings: ['The model server answers 401: check OPENAI_API_KEY.'],
      }),
      'built_in',
    ],
    [
      '(built-in; gpt-test read no order: The model server did not answer in time)',
      {
        ok: true,
        findings: [],
        input: {
          model: 'gpt-test',
          asked: ['order'],
          taken: [],
          findings: ['The model server did not answer in time.'],
        },
      },
      'built_in',
    ],
    [
      '(built-in; not in the approved wording: replies.resolved was not used: gone)',
      { ok: false, findings: ['replies.resolved was not used: gone.'] },
      'built_in',
    ],
  ] as const)('by whom the reply was written: %s', (text, verification, source) => {
    expect(shown({}, verification, source)).toContain(
      `Reply       ${text}\n            It is on its way.\n`,
    )
  })
})

describe('after a run that lacked input', () => {
  const lacking = {
    ...execution,
    inputSources: { size: 'caller', name: 'context' } as const,
    reason: { code: 'missing_input', message: 'x', fields: ['id'] } as const,
  }

  test('the next command is there, with what has to be given again', () => {
    expect(goOnLines(terminal, lacking, 'resolve "…" --procedure REFUND')).toEqual([
      `Go on       stepwarden resolve "…" --procedure REFUND --input '{"size": "…", "id": "…"}'`,
    ])
  })

  test('a session says it in its own words', () => {
    expect(goOnLines(terminal, lacking, undefined)).toEqual([
      'Go on       type the message again, with what is missing in it, or',
      `            /executions start REFUND --input '{"size": "…", "id": "…"}'`,
    ])
  })

  test('any other run has no such line', () => {
    expect(goOnLines(terminal, execution, 'resolve')).toEqual([])
  })
})
