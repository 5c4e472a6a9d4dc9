import { describe, expect, it } from 'vitest'
import { createLogger } from '../src/logger.ts'
import { ModelFailed } from '../src/openai/failure.ts'

function logged(level: 'warn' | 'debug', err: Error) {
  let line = ''
  const log = createLogger(level, {
    write: (text) => {
      line += text
    },
  })
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

  it('brings the stack of what nobody foresaw, and of all at debug', () => {
    expect(logged('warn', new TypeError('x')).err.stack).toContain('logger.test.ts')
    expect(logged('debug', failure).err.stack).toContain('logger.test.ts')
  })
})
