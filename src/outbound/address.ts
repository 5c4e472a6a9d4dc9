import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Where clouds tell machines their credentials. Never asked, whatever is allowed. */
const metadataAddresses = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '192.0.0.192',
  // Azure's WireServer, public as it looks.
  '168.63.129.16',
  // AWS: of machines, and of pods.
  'fd00:ec2::254',
  'fd00:ec2::23',
  // Google, Oracle and Scaleway.
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:42::42',
])

/** What a host that may be private is let have besides public addresses. */
const privateRanges = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal'])

/** All of IPv6 that is routed on the internet. What lies outside is reserved, or another spelling of IPv4. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** The prefix under which a network without IPv4 reaches public IPv4 addresses. */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Why no connection to an address may be made; undefined for one that is allowed: a public unicast address, or a
 * loopback or private one where `isPrivateAllowed`. An IPv6 address that stands for one of IPv4 is judged by that.
 */
export function addressProblem(address: string, isPrivateAllowed: boolean): string | undefined {
  if (isIP(address) === 0) return `'${address}' is no IP address`
  const judged = innerAddress(ipaddr.parse(address))
  if (judged === undefined) return `${address} leads to another address that nobody can see`
  if (metadataAddresses.has(judged.toString())) {
    return `${address} is where a cloud keeps credentials of its machines`
  }
  const range = judged.range()
  if (range === 'unicast' && isRouted(judged)) return undefined
  if (isPrivateAllowed && privateRanges.has(range)) return undefined
  return `${address} is no public address (${range === 'unicast' ? 'reserved' : range})`
}

/** The IPv4 address that one of IPv6 stands for, else the address; undefined when it is hidden in a tunnel. */
function innerAddress(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (address instanceof ipaddr.IPv4) return address
  const isInnerLast =
    address.isIPv4MappedAddress() || address.range() === 'rfc6145' || address.match(translated)
  if (isInnerLast) return new ipaddr.IPv4(address.toByteArray().slice(12))
  const range = address.range()
  return range === '6to4' || range === 'teredo' ? undefined : address
}

function isRouted(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast)
}
