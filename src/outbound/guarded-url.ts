import { isIP } from 'node:net'
import { addressProblem } from './address.ts'
import { OutboundFailure } from './failure.ts'
import type { HostList } from './host-list.ts'

/**
 * Reads a URL that is to be asked. A name in it is judged later, by the addresses that it has when the connection is
 * made.
 *
 * @throws OutboundFailure `refused` for anything but `https`, or `http` to a host that may be private; for a user or
 *   password in it; for an address that is not allowed.
 */
export function guardedUrl(text: string, allowPrivate: HostList): URL {
  const refuse = (problem: string) => new OutboundFailure('refused', `The URL ${problem}.`)
  if (!URL.canParse(text)) throw refuse('cannot be read')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refuse(`begins with ${url.protocol}, and only https is asked`)
  }
  if (url.username !== '' || url.password !== '') throw refuse('has a user or a password in it')
  const isPrivateAllowed = allowPrivate.includes(url)
  const address = literalAddress(url)
  const problem = address === undefined ? undefined : addressProblem(address, isPrivateAllowed)
  if (problem !== undefined) throw refuse(`is not allowed: ${problem}`)
  if (url.protocol === 'http:' && !isPrivateAllowed) {
    throw refuse(`of ${url.host} begins with http:, and only https is asked there`)
  }
  url.hash = ''
  return url
}

/** The address that a URL names in place of a host: whatever its spelling was, the parser has made it the usual one. */
function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? undefined : bare
}
