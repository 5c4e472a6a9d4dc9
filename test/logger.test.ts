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

  it('keeps back what an error quotes, and what a driver adds to it, but at debug', () => {
    const quoting = () => {
      try {
        return JSON.parse('zaphod')
      } catch (error) {
        return error
      }
    }
    const refused = Object.assign(new Error('invalid input syntax for type integer: "zaphod"'), {
      ...{ code: '22P02', table: 'executions', where: "unnamed portal parameter $1 = 'zaphod'" },
    })
    const row = Object.assign(new Error('null value in column "id"\n    at zaphod'), {
      ...{ code: '23502', detail: 'Failing row contains (zaphod).', query: 'zaphod' },
    })

    for (const error of [quoting(), refused, row]) {
      const whole = new Error('It failed.', { cause: error })
      const { err } = logged('warn', whole)
      expect(JSON.stringify(err)).not.toContain('zaphod')
      expect(err.cause.stack).toContain('logger.test.ts')
      expect(JSON.stringify(logged('debug', error).err)).toContain('zaphod')
    }
    expect(logged('warn', refused).err).toMatchObject({ code: '22P02', table: 'executions' })
  })

  it('brings the stack of what nobody foresaw, and of all at debug', () => {
    expect(logged('warn', new TypeError('x')).err.stack).toContain('logger.test.ts')
    expect(logged('debug', failure).err.stack).toContain('logger.test.ts')
  })
})
