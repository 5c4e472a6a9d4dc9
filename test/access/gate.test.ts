import { beforeEach, describe, expect, it } from 'vitest'
import {
  createGate,
  type GateOptions,
  rateLimitHeaders,
  rateLimitHeadersOf,
} from '../../src/access/gate.ts'
import { networkOf } from '../../src/access/network.ts'
import { ServiceError } from '../../src/domain/errors.ts'
import { principalOf } from '../support/caller.ts'

let now = 0
let looked = 0
const ann = principalOf('ann', ['agent'])
const office = '192.0.2.7'

beforeEach(() => {
  now = 0
  looked = 0
})

const gateOf = (options: Partial<GateOptions> = {}) =>
  createGate({ rateLimit: undefined, now: () => now, ...options })
type Gate = ReturnType<typeof gateOf>

const good = (gate: Gate, address: string, key: string) =>
  gate.admit(address, key, async () => {
    looked += 1
    return ann
  })

async function bad(gate: Gate, address: string, key = `wrong-${looked}`): Promise<string> {
  try {
    await gate.admit(address, key, async () => {
      looked += 1
      throw new ServiceError('KEY_REFUSED', {})
    })
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    throw error
  }
  return 'admitted'
}

async function block(gate: Gate, address: string): Promise<void> {
  for (let i = 0; i < 20; i += 1) expect(await bad(gate, address)).toBe('KEY_REFUSED')
  expect(await bad(gate, address)).toBe('RATE_LIMITED')
}

describe('after twenty refused credentials, an address', () => {
  it('has no unknown credential looked up, not even a good one', async () => {
    const gate = gateOf()
    await block(gate, office)

    expect(looked).toBe(20)
    await expect(good(gate, office, 'new')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      kind: 'rate_limited',
      retryable: true,
      details: { limited: 'address', retryAfterSeconds: 3 },
    })
    expect(looked).toBe(20)
  })

  it('still lets those in whose key has let somebody in before', async () => {
    const gate = gateOf()
    await good(gate, office, 'of-ann')
    await good(gate, '203.0.113.9', 'of-bob')
    await block(gate, office)

    expect(await good(gate, office, 'of-ann')).toBe(ann)
    expect(await good(gate, office, 'of-bob')).toBe(ann)
  })

  it('looks a known key up all the same, and knows it no more once it is refused', async () => {
    const gate = gateOf()
    await good(gate, office, 'of-ann')
    await block(gate, office)

    expect(await bad(gate, office, 'of-ann')).toBe('KEY_REFUSED')
    expect(await bad(gate, office, 'of-ann')).toBe('RATE_LIMITED')
  })

  it('may try one every three seconds, and all again after a minute', async () => {
    const gate = gateOf()
    await block(gate, office)

    now += 3_000
    expect(await bad(gate, office)).toBe('KEY_REFUSED')
    expect(await bad(gate, office)).toBe('RATE_LIMITED')
    now += 63_000
    expect(await good(gate, office, 'new')).toBe(ann)
    await block(gate, office)
  })

  it('is alone in that', async () => {
    const gate = gateOf()
    await block(gate, office)

    expect(await good(gate, '192.0.2.8', 'new')).toBe(ann)
  })

  it('is its whole network of IPv6, and the same when it comes as IPv6', async () => {
    const gate = gateOf()
    await block(gate, '2001:db8:0:1::5')
    await block(gate, office)

    expect(await bad(gate, '2001:db8:0:1:ffff:ffff:ffff:1')).toBe('RATE_LIMITED')
    expect(await bad(gate, '2001:db8:0:2::5')).toBe('KEY_REFUSED')
    expect(await bad(gate, `::ffff:${office}`)).toBe('RATE_LIMITED')
  })
})

describe('a key from an address where others are guessed', () => {
  /** A text that has the form of a key. */
  const keyOf = (beginning: string) => `sw_default_${beginning.padEnd(43, 'x')}`

  it('is looked up, where it begins as none of those', async () => {
    const gate = gateOf()
    await block(gate, office)

    expect(await good(gate, office, keyOf('aaaaaaaa'))).toBe(ann)
  })

  it('is not, where one that begins so was refused three times', async () => {
    const gate = gateOf()
    await block(gate, office)
    for (const end of ['1', '2', '3']) {
      expect(await bad(gate, office, keyOf(`guessing${end}`))).toBe('KEY_REFUSED')
    }

    expect(await bad(gate, office, keyOf('guessing4'))).toBe('RATE_LIMITED')
    await expect(good(gate, office, keyOf('guessing5'))).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    })
    expect(await good(gate, office, keyOf('honestly1'))).toBe(ann)
    expect(await good(gate, '203.0.113.9', keyOf('guessing5'))).toBe(ann)
  })

  it('is not, where very many that begin otherwise were refused', async () => {
    const gate = gateOf()
    for (let i = 0; i < 100; i += 1) await bad(gate, office, keyOf(`key${i}`.padEnd(8, '0')))
    const before = looked

    expect(await bad(gate, office, keyOf('honestly'))).toBe('RATE_LIMITED')
    expect(looked).toBe(before)
    now += 1_000
    expect(await good(gate, office, keyOf('honestly'))).toBe(ann)
  })
})

describe('an address', () => {
  it('that is let in, or asks in vain for other reasons, is never stopped', async () => {
    const gate = gateOf()
    const failing = () =>
      gate.admit(office, 'key', () =>
        Promise.reject(new ServiceError('DATABASE_BUSY', { waitedMs: 1 })),
      )
    for (let i = 0; i < 300; i += 1) {
      await good(gate, office, `key-${i}`)
      await expect(failing()).rejects.toMatchObject({ code: 'DATABASE_BUSY' })
    }
  })

  it('has a bounded number looked up at once, and none more than may still be refused', async () => {
    const gate = gateOf()
    let refuse = () => {}
    const refused = new Promise<never>((_resolve, reject) => {
      refuse = () => reject(new ServiceError('KEY_REFUSED', {}))
    })
    const codeOf = (attempt: Promise<unknown>) => attempt.catch((error: ServiceError) => error.code)
    const start = () => codeOf(gate.admit(office, `wrong-${Math.random()}`, () => refused))
    const first = Array.from({ length: 150 }, start)
    refuse()

    const codes = await Promise.all(first)
    expect(codes.filter((code) => code === 'KEY_REFUSED')).toHaveLength(100)
    now += 6_000
    const later = await Promise.all(Array.from({ length: 50 }, start))
    expect(later.filter((code) => code === 'KEY_REFUSED')).toHaveLength(2)
    now += 120_000
    expect(await good(gate, office, 'new')).toBe(ann)
  })
})

describe('a principal', () => {
  it('may send a burst and then so many a second, whatever keys they show', () => {
    const gate = gateOf({ rateLimit: { perSecond: 2, burst: 3 } })
    const allowances = [gate.take(ann), gate.take(ann), gate.take({ ...ann })]

    expect(allowances.map((allowance) => allowance?.remaining)).toEqual([2, 1, 0])
    expect(() => gate.take(ann)).toThrow(
      expect.objectContaining({
        code: 'RATE_LIMITED',
        details: expect.objectContaining({ limited: 'principal', retryAfterSeconds: 1 }),
      }),
    )
    expect(gate.take({ ...ann, tenantId: 'acme' })?.remaining).toBe(2)
    now += 500
    expect(gate.take(ann)?.remaining).toBe(0)
  })

  it('is told by headers what is left and when to go on', () => {
    const gate = gateOf({ rateLimit: { perSecond: 1, burst: 2 } })

    expect(rateLimitHeaders(gate.take(ann))).toEqual({
      ...{ 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '1' },
    })
    gate.take(ann)
    let refusal: unknown
    try {
      gate.take(ann)
    } catch (error) {
      refusal = error
    }
    expect(rateLimitHeadersOf(refusal)).toEqual({
      ...{ 'retry-after': '1', 'ratelimit-limit': '2' },
      ...{ 'ratelimit-remaining': '0', 'ratelimit-reset': '2' },
    })
    expect(rateLimitHeadersOf(new ServiceError('KEY_REFUSED', {}))).toEqual({})
  })

  it('is not limited where nobody wants that', () => {
    const gate = gateOf()

    for (let i = 0; i < 1000; i += 1) expect(gate.take(ann)).toBeUndefined()
  })
})

describe('a place', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:0DB8:0:0:ffff::', '2001:db8::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['::1', '::/64'],
    ['', 'unknown'],
    ['proxy.example', 'unknown'],
  ])('of %s is %s', (address, place) => {
    expect(networkOf(address)).toBe(place)
  })
})
