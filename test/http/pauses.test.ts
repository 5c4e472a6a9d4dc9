import { getEventListeners } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { drained, passed } from '../../src/http/pauses.ts'

it('a pause that is over listens to nothing, however many there were', async () => {
  const { signal } = new AbortController()
  const out = new PassThrough()

  for (let i = 0; i < 5; i += 1) {
    await passed(0, signal)
    const draining = drained(out, signal)
    out.emit('drain')
    await draining
  }

  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(out.listenerCount('drain')).toBe(0)
})

it('a pause ends when nobody waits any more, also when that was so before', async () => {
  const leaving = new AbortController()
  const out = new PassThrough()
  const pauses = [passed(3_600_000, leaving.signal), drained(out, leaving.signal)]

  leaving.abort()
  await Promise.all([...pauses, passed(3_600_000, leaving.signal), drained(out, leaving.signal)])

  expect(out.listenerCount('drain')).toBe(0)
})
