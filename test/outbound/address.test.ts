import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { addressProblem } from '../../src/outbound/address.ts'

const octet = fc.integer({ min: 0, max: 255 })
const dotted = (parts: readonly number[]) => parts.join('.')
const hex = (parts: readonly number[]) =>
  `${((parts[0] ?? 0) * 256 + (parts[1] ?? 0)).toString(16)}:${((parts[2] ?? 0) * 256 + (parts[3] ?? 0)).toString(16)}`

/** Addresses of IPv4 that lie inside, or nowhere. */
const innerIpv4 = fc.oneof(
  fc.tuple(fc.constant(0), octet, octet, octet),
  fc.tuple(fc.constant(10), octet, octet, octet),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
  fc.tuple(fc.constant(127), octet, octet, octet),
  fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
  fc.tuple(fc.constant(198), fc.constantFrom(18, 19), octet, octet),
  fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
)

/** What stands for an address of IPv4 in one of IPv6. */
const spellings: readonly ((parts: readonly number[]) => string)[] = [
  dotted,
  (parts) => `::ffff:${dotted(parts)}`,
  (parts) => `::ffff:${hex(parts)}`,
  (parts) => `0:0:0:0:0:FFFF:${hex(parts)}`,
  (parts) => `::ffff:0:${hex(parts)}`,
  (parts) => `64:ff9b::${hex(parts)}`,
]

describe('an address', () => {
  it.each([
    '8.8.8.8',
    '172.15.0.1',
    '100.128.0.1',
    '192.169.0.1',
    '2606:4700::1111',
    '2a00:1450:4001:81b::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('is asked when it is public: %s', (address) => {
    expect(addressProblem(address, false)).toBeUndefined()
  })

  it.each([
    ['0.0.0.0', 'unspecified'],
    ['255.255.255.255', 'broadcast'],
    ['224.0.0.1', 'multicast'],
    ['169.254.1.1', 'linkLocal'],
    ['192.0.2.1', 'reserved'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['fe80::1', 'linkLocal'],
    ['fe80::1%eth0', 'linkLocal'],
    ['fc00::1', 'uniqueLocal'],
    ['fd12:3456::1', 'uniqueLocal'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'reserved'],
    ['2002:7f00:1::', 'nobody can see'],
    ['2002:808:808::', 'nobody can see'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'nobody can see'],
    ['64:ff9b:1::808:808', 'rfc6052'],
    ['::7f00:1', 'reserved'],
    ['4000::1', 'reserved'],
    ['127.1', 'no IP address'],
    ['2130706433', 'no IP address'],
    ['', 'no IP address'],
  ])('is refused when it is none, or not public: %s', (address, problem) => {
    expect(addressProblem(address, false)).toContain(problem)
  })

  it.each(['127.0.0.1', '10.1.2.3', '192.168.0.1', '100.64.0.1', '::1', 'fd00::1', '8.8.8.8'])(
    'is asked of a host that may be private: %s',
    (address) => {
      expect(addressProblem(address, true)).toBeUndefined()
    },
  )

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    'fd00:42::42',
    '::ffff:169.254.169.254',
    '64:ff9b::6464:64c8',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    'fe80::1',
    '2002:7f00:1::',
  ])('is refused even of a host that may be private: %s', (address) => {
    expect(addressProblem(address, true)).toBeDefined()
  })
})

test('no spelling of an inner address of IPv4 is asked', () => {
  fc.assert(
    fc.property(innerIpv4, fc.constantFrom(...spellings), (parts, spell) => {
      expect(addressProblem(spell(parts), false)).toBeDefined()
    }),
    { numRuns: 2_000 },
  )
})

test('every spelling of an address of IPv4 is judged as the address', () => {
  fc.assert(
    fc.property(
      fc.tuple(octet, octet, octet, octet),
      fc.constantFrom(...spellings),
      fc.boolean(),
      (parts, spell, isPrivateAllowed) => {
        const isRefused = addressProblem(dotted(parts), isPrivateAllowed) !== undefined

        expect(addressProblem(spell(parts), isPrivateAllowed) !== undefined).toBe(isRefused)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('nothing outside 2000::/3 is asked', () => {
  const word = fc.integer({ min: 0, max: 0xffff })
  fc.assert(
    fc.property(fc.array(word, { minLength: 8, maxLength: 8 }), (words) => {
      const first = words[0] ?? 0
      const address = words.map((part) => part.toString(16)).join(':')

      fc.pre(first >= 0x4000 || first < 0x2000)
      fc.pre(!/^(0:0:0:0:0:ffff|0:0:0:0:ffff:0|64:ff9b:0:0:0:0):/.test(address))
      expect(addressProblem(address, false)).toBeDefined()
    }),
  )
})
