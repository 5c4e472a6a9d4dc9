import { OutboundFailure } from '../outbound/failure.ts'
import { guardedUrl } from '../outbound/guarded-url.ts'
import { hostList } from '../outbound/host-list.ts'

/**
 * Why nothing may be sent to a URL; undefined for one that is fine as far as its text tells. What its name stands for is
 * judged at each connection.
 */
export function findTargetProblem(url: string, allowHosts: readonly string[]): string | undefined {
  try {
    guardedUrl(url, hostList(allowHosts))
    return undefined
  } catch (error) {
    if (error instanceof OutboundFailure) return error.message
    throw error
  }
}
