import { describe, expect, it } from 'vitest'
import { isOutage } from '../src/db/database-errors.ts'
import { createLogger } from '../src/logger.ts'
import { ModelFailed } from '../src/openai/failure.ts'

function logged(level: 'warn' | 'debug', err: Error) {
  let line = ''
  const stream = {
    write: (text: string) => {
      line += text
    },
  }
  const log = createLogger(level, stream, isOutage)
  log.warn({ err }, 'search falls back')
  return JSON.parse(line)
}

describe('the log', () => {
  const failure = new ModelFailed('key_rejected', 'The model server answers 401.')

  it('tells a failure of a model in a line, without a stack', () => {
    expect(logged('warn', failure)).toMatchObject({
      msg: 'search falls back',
      err: { type: 'ModelFailed', code: 'key_rejected', message: 'The model server answers 401.' },
    })
    expect(logged('warn', failure).err).not.toHaveProperty('stack')
  })

  it('tells that the database is away in a line, however much the driver says of it', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    })
    const each = Object.assign(new AggregateError([refused, refused]), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    })
    const full = Object.assign(new Error(`could not extend file: ${'x'.repeat(10_000)}`), {
      code: '53100',
      file: 'md.c',
    })

    const lines = [refused, each, full].map((err) => logged('warn', err).err)

    expect(lines).toEqual([
      { type: 'Error', code: 'ECONNREFUSED', message: refused.message },
      { type: 'AggregateError', code: 'ECONNREFUSED', message: refused.message },
      { type: 'Error', code: '53100', message: expect.stringMatching(/^could not.{480,500}…$/) },
    ])
    expect(logged('debug', refused).err).toHaveProperty('stack')
  })

  it('brings the stack of what nobody foresaw, and of all at debug', () => {
    expect(logged('warn', new TypeError('x')).err.stack).toContain('logger.test.ts')
    expect(logged('debug', failure).err.stack).toContain('logger.test.ts')
  })
})
