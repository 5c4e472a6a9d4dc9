import { getEventListeners } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { drained } from '../../src/http/pauses.ts'

it('a pause that is over listens to nothing, however many there were', async () => {
  const { signal } = new AbortController()
  const out = new PassThrough()

  for (let i = 0; i < 5; i += 1) {
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
  const pause = drained(out, leaving.signal)

  leaving.abort()
  await Promise.all([pause, drained(out, leaving.signal)])

  expect(out.listenerCount('drain')).toBe(0)
})
