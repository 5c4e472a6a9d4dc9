/** Hosts by name, each with any port or with one. */
export interface HostList {
  readonly includes: (url: URL) => boolean
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/**
 * Reads a list of `host` and `host:port`. Names are compared as a URL has them, so that `0x7f.1` is `127.0.0.1`; an IPv6
 * address stands with or without brackets.
 *
 * @throws TypeError that names an entry which is none.
 */
export function hostList(entries: readonly string[]): HostList {
  const hosts = new Set(entries.map(normalEntry))
  return {
    includes: (url) => hosts.has(url.hostname) || hosts.has(`${url.hostname}:${portOf(url)}`),
  }
}

/** Whether `hostList` can read an entry. */
export function isHostEntry(entry: string): boolean {
  try {
    normalEntry(entry)
    return true
  } catch {
    return false
  }
}

/** The port that a URL names or means. */
function portOf(url: URL): string {
  return url.port === '' ? (defaultPorts[url.protocol] ?? '') : url.port
}

function normalEntry(entry: string): string {
  const isBareIpv6 = /^[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*$/i.test(entry)
  const text = isBareIpv6 ? `[${entry}]` : entry
  // A scheme without a port of its own, so that none is taken for the default and dropped.
  const hasPort = /:\d{1,5}$/.test(text)
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined
  if (url === undefined || /[/?#@\\\s*]/.test(text)) {
    throw new TypeError(`'${entry}' is no host such as 'desk.example' or '127.0.0.1:8080'`)
  }
  return hasPort ? `${url.hostname}:${portOf(url)}` : url.hostname
}
