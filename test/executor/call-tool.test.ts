import { EventEmitter, once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import { compileSchema } from '../../src/domain/json-schema.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { type Tool, type ToolContext, ToolFailed, ToolRefused } from '../../src/domain/tool.ts'
import { callTool } from '../../src/executor/call-tool.ts'
import { contractOf, startOf } from '../support/walk.ts'

const clock = { now: () => 7 }
const { executionId, requester, tenantId } = startOf()

type Run = (input: JsonObject, context: ToolContext) => unknown

function call(
  run: Run,
  {
    input = {},
    principal = requester,
    timeoutMs = 5_000,
    output = {},
  }: { input?: JsonObject; principal?: Principal; timeoutMs?: number; output?: JsonObject } = {},
) {
  const contract = contractOf('look', { output })
  const pinned = {
    contract,
    contractHash: 'hash',
    input: compileSchema(contract.input),
    output: compileSchema(contract.output),
  }
  // A tool may be plain JavaScript, which answers what it likes.
  const tool: Tool = { contract, contractHash: 'hash', run: run as Tool['run'] }
  const context = { idempotencyKey: () => 'key', tenantId, executionId, principal }
  return callTool(tool, pinned, input, context, timeoutMs, clock)
}

describe('what a tool is given', () => {
  it('is its own: what it changes there reaches nothing else', async () => {
    const input = { list: [{ a: 1 }] }
    const principal = { ...requester, groups: ['desk'] }

    await call(
      (given, context) => {
        Object.assign(given, { list: 'gone' })
        Object.assign(context.principal.groups, ['changed'])
        return {}
      },
      { input, principal },
    )

    expect(input).toEqual({ list: [{ a: 1 }] })
    expect(principal.groups).toEqual(['desk'])
  })

  it('is all there, also in a copy of the context', async () => {
    let copy: ToolContext | undefined
    await call((_input, context) => {
      copy = { ...context }
      return {}
    })

    expect(copy).toMatchObject({ idempotencyKey: 'key', tenantId, executionId })
    expect(copy?.principal).toEqual(requester)
    expect(copy?.signal.aborted).toBe(false)
  })

  it('keeps a member that is called __proto__ apart from the prototype', async () => {
    const input: JsonObject = JSON.parse('{"__proto__": {"polluted": true}}')
    let given: JsonObject = {}
    await call(
      (json) => {
        given = json
        return {}
      },
      { input },
    )

    expect(Object.keys(given)).toEqual(['__proto__'])
    expect('polluted' in given).toBe(false)
  })
})

describe('a tool that takes too long', () => {
  it('is left, and its signal aborted', async () => {
    let signal: AbortSignal | undefined
    const observation = await call(
      (_input, context) => {
        signal = context.signal
        return new Promise(() => {})
      },
      { timeoutMs: 5 },
    )

    expect(observation).toMatchObject({ result: 'timeout', code: 'tool_timeout', endedAt: 7 })
    expect(signal?.aborted).toBe(true)
    expect(String(signal?.reason)).toContain('no answer within 5 ms')
  })

  it('finds its signal aborted when it looks only afterwards, and its late failure harms nobody', async () => {
    let later: ToolContext | undefined
    await call(
      async (_input, context) => {
        later = context
        await wait(20)
        throw new Error('late')
      },
      { timeoutMs: 5 },
    )
    await wait(30)

    expect(later?.signal.aborted).toBe(true)
    expect(later?.signal).toBe(later?.signal)
  })
})

describe('what came of a call', () => {
  it.each<[string, Run, object]>([
    ['an answer', async () => ({ ok: true }), { result: 'done', output: { ok: true } }],
    ['an answer without a promise', () => ({ ok: true }), { result: 'done' }],
    [
      'a refusal',
      () => Promise.reject(new ToolRefused('no')),
      { result: 'refused', message: 'no' },
    ],
    [
      'a failure',
      () => {
        throw new ToolFailed('not now')
      },
      { result: 'failed', message: 'not now' },
    ],
    [
      'a refusal of another copy of the package',
      async () => {
        vi.resetModules()
        const other = await import('../../src/domain/tool.ts')
        expect(other.ToolRefused).not.toBe(ToolRefused)
        throw new other.ToolRefused('no')
      },
      { result: 'refused', message: 'no' },
    ],
    ['anything else', () => Promise.reject('odd'), { result: 'error', message: 'odd' }],
    ['what is no JSON', () => new Date(0), { result: 'invalid', code: 'output_invalid' }],
  ])('is observed: %s', async (_what, run, expected) => {
    expect(await call(run)).toMatchObject(expected)
  })

  it('is checked with the pinned schema', async () => {
    const output = { type: 'object', required: ['state'] }

    expect(await call(() => ({}), { output })).toMatchObject({
      result: 'invalid',
      code: 'output_invalid',
    })
  })

  it.each<[string, Json, string]>([
    ['exactly 1 MiB', 'x'.repeat(1024 * 1024 - 2), 'done'],
    ['a byte more', 'x'.repeat(1024 * 1024 - 1), 'invalid'],
    ['few characters of many bytes', '€'.repeat(350_000), 'invalid'],
    ['many characters that are escaped', '\u0001'.repeat(175_000), 'invalid'],
  ])('is measured in bytes of JSON: %s', async (_what, answer, result) => {
    expect(await call(() => answer)).toMatchObject({ result })
  })

  it('is read no further than it takes to see that it is too large', async () => {
    let reads = 0
    const part = () => ({
      get text() {
        reads += 1
        return 'x'.repeat(1_000)
      },
    })

    const observation = await call(() => Array.from({ length: 50_000 }, part))

    expect(observation).toMatchObject({ result: 'invalid', code: 'output_too_large' })
    expect(reads).toBeLessThan(1_100)
  })

  it('may be larger than any text can be', async () => {
    const text = 'x'.repeat(10_000_000)

    const observation = await call(() => Array(100_000).fill(text))

    expect(observation).toMatchObject({ result: 'invalid', code: 'output_too_large' })
  })
})

describe('a tool that is cut off', () => {
  const cutOff = (run: Run) => call(run, { timeoutMs: 5 })
  const never = () => new Promise<never>(() => {})

  it('ends nothing by what its listeners throw, and says so', async () => {
    const fallen: unknown[] = []
    const note = (error: unknown) => void fallen.push(error)
    process.on('uncaughtException', note)
    onTestFinished(() => void process.off('uncaughtException', note))

    const { message, ...observed } = Object(
      await cutOff((_input, { signal }) => {
        signal.addEventListener('abort', () => {
          throw new Error('thrown')
        })
        signal.addEventListener('abort', async () => {
          throw new Error('rejected')
        })
        signal.addEventListener('abort', {
          handleEvent() {
            throw new Error('thrown by an object')
          },
        })
        signal.onabort = () => {
          throw new Error('thrown by onabort')
        }
        return never()
      }),
    )
    await wait(10)

    expect(observed).toEqual({ result: 'timeout', code: 'tool_timeout', endedAt: 7 })
    for (const text of ['thrown', 'thrown by an object', 'thrown by onabort']) {
      expect(message).toContain(`Its listener to that threw: ${text}.`)
    }
    expect(fallen).toEqual([])
  })

  it('hears of it in every way that a signal is listened to, and no more once it listens no more', async () => {
    const heard: string[] = []
    await cutOff(async (_input, { signal }) => {
      const gone = () => void heard.push('removed')
      signal.addEventListener('abort', gone)
      signal.removeEventListener('abort', gone)
      signal.addEventListener('abort', () => void heard.push('function'), { once: true })
      signal.addEventListener('abort', { handleEvent: () => void heard.push('object') })
      signal.onabort = () => void heard.push('onabort')
      AbortSignal.any([signal]).addEventListener('abort', () => void heard.push('any'))
      once(new EventEmitter(), 'never', { signal }).catch(() => heard.push('once'))
      await wait(1_000, undefined, { signal }).catch(() => heard.push('timer'))
    })
    await wait(10)

    expect(heard.sort()).toEqual(['any', 'function', 'object', 'onabort', 'once', 'timer'])
  })
})
