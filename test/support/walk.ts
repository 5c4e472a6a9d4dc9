import { hashOf } from '../../src/domain/canonical.ts'
import type { Definition } from '../../src/domain/definition.ts'
import type { ExecutionEnd, ExecutionStart, StepRow } from '../../src/domain/execution.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import type { ToolContract } from '../../src/domain/tool.ts'
import { apply, type ExecutionState, initialState } from '../../src/executor/apply.ts'
import type { ToolObservation } from '../../src/executor/attempt.ts'
import type { ToolCall } from '../../src/executor/begin-step.ts'
import { concludeAttempt, decide } from '../../src/executor/decide.ts'
import { compilePlan, type Plan } from '../../src/executor/plan.ts'

export const startedAt = Date.UTC(2026, 4, 4, 9, 0, 0)

export function contractOf(name: string, overrides: Partial<ToolContract> = {}): ToolContract {
  return {
    name,
    description: `The tool ${name}`,
    effect: 'read',
    idempotent: true,
    requires: [],
    limits: [],
    input: { type: 'object' },
    output: {},
    timeoutMs: 30_000,
    states: [],
    claims: [],
    ...overrides,
  }
}

export function planOf(definition: Definition, contracts: readonly ToolContract[] = []): Plan {
  return compilePlan(
    definition,
    new Map(
      contracts.map((contract) => [contract.name, { contract, contractHash: hashOf(contract) }]),
    ),
  )
}

export function definitionOf(parts: Partial<Definition> & Pick<Definition, 'steps'>): Definition {
  return { key: 'TEST_PLAYBOOK', name: 'Test', description: 'For tests', ...parts }
}

export function startOf(input: JsonObject = {}): ExecutionStart {
  return {
    executionId: 'exec_0123456789abcdefghjkm',
    tenantId: 'default',
    requester: { id: 'ann', kind: 'human', roles: ['agent'], groups: [], tenantId: 'default' },
    startedAt,
    input,
    ticket: { text: 'a ticket' },
  }
}

export interface Walked {
  readonly rows: readonly StepRow[]
  readonly end: ExecutionEnd
  readonly states: readonly ExecutionState[]
  /** What the clock showed when each of the states was reached. */
  readonly moments: readonly number[]
  readonly calls: readonly (ToolCall & { readonly input: unknown; readonly attempt: number })[]
}

export type Answer = (
  call: ToolCall,
  row: StepRow,
) => ToolObservation | { readonly output: unknown }

/** What somebody does while a run waits: the row that comes of it, or undefined to let the time pass. */
export type Reply = (state: ExecutionState, now: number) => StepRow | undefined

/**
 * Walks a plan by `decide` and `apply` alone, with a clock that moves on 10 ms at each look. What `answer` gives is
 * what the tools do, what `reply` gives is what people and other runs do.
 */
export function walk(
  plan: Plan,
  start: ExecutionStart,
  answer: Answer,
  from: ExecutionState = initialState(plan, start),
  at: number = startedAt,
  reply: Reply = () => undefined,
): Walked {
  let state = from
  let now = at
  const rows = new Map<number, StepRow>()
  const states: ExecutionState[] = [state]
  const moments: number[] = [now]
  const calls: (ToolCall & { input: unknown; attempt: number })[] = []
  for (let count = 0; count < 10_000; count += 1) {
    now += 10
    const command = decide(plan, state, now)
    if (command.kind === 'end') {
      return { rows: [...rows.values()], end: command.end, states, moments, calls }
    }
    if (command.kind === 'wait') {
      const replied = reply(state, now)
      if (replied === undefined) {
        if (command.until === null) throw new Error('the run waits for ever')
        now = Math.max(now, command.until - 10)
        continue
      }
      rows.set(replied.ordinal, replied)
      state = apply(state, replied)
      states.push(state)
      moments.push(now)
      continue
    }
    let { row } = command
    if (command.kind === 'callTool') {
      calls.push({ ...command.call, input: row.input, attempt: row.attempt })
      now = Math.max(now, command.call.notBefore) + 10
      const answered = answer(command.call, row)
      const observation =
        'result' in answered
          ? { ...answered, endedAt: now }
          : { result: 'done' as const, output: answered.output as never, endedAt: now }
      row = concludeAttempt(plan, state, row, observation)
    }
    rows.set(row.ordinal, row)
    state = apply(state, row)
    states.push(state)
    moments.push(now)
  }
  throw new Error('the run did not end')
}

/** What jsonb does to a value: keys in another order, everything else the same. */
export function throughJsonb<T>(value: T): T {
  const reordered = JSON.parse(JSON.stringify(value), (_key, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).reverse())
      : member,
  )
  return reordered
}
