import ipaddr from 'ipaddr.js'

/** What counts as one place: an IPv6 customer is given a /64 at least, and has all of its addresses for nothing. */
const ipv6Bits = 64

/**
 * The place that an address is counted under: an IPv4 address itself, also when it comes as IPv6 (`::ffff:192.0.2.1`);
 * of IPv6 the network `2001:db8:0:1::/64`. What is no address (a socket has none) is one place together.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone(parsed)}/${ipv6Bits}`)
  return `${network.toString()}/${ipv6Bits}`
}

/** `fe80::1%eth0`: the zone names an interface of this machine and says nothing of who is there. */
function withoutZone(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  return address.toString().replace(/%.*$/, '')
}
