import { sha256 } from '../../src/domain/canonical.ts'

const longest = 64

/**
 * A name as tools and steps may have it: lower-case letters, digits and `_`, from a letter on. One that is too long is
 * cut, and ends in a mark of its own, so that two names stay two.
 */
export function plainName(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  const plain = words.replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '')
  const whole = /^[a-z]/.test(plain) ? plain : `x_${plain}`
  return whole.length <= longest
    ? whole
    : `${whole.slice(0, longest - 9)}_${sha256(name).slice(0, 8)}`
}

/** Keys that the playbooks use themselves. */
const ownKeys = /^(?:goal|goal_\d+|rules_\d+)$/

/** The key of a step that calls a tool, told apart by what it is asked. */
export function lookupKey(tool: string, asked: readonly string[]): string {
  const key = plainName([tool, ...asked].join('_'))
  return ownKeys.test(key) ? `ask_${key}` : key
}
