import { nanoid } from 'nanoid'
import { sha256 } from './canonical.ts'

const secretLength = 43
const form = /^sw_([a-z0-9][a-z0-9-]{0,62})_[A-Za-z0-9_-]{43}$/

/** Makes a key of a tenant: `sw_<tenant>_<43 random characters>`, 258 bits of chance. */
export function newApiKey(tenantId: string): string {
  return `sw_${tenantId}_${nanoid(secretLength)}`
}

/** The tenant that a key says it is of, or undefined for what is no key. Nothing is proved by that. */
export function tenantOfKey(key: string): string | undefined {
  return form.exec(key)?.[1]
}

/** What is stored of a key. One hash is enough: nobody guesses 258 bits. */
export function apiKeyHash(key: string): string {
  return sha256(key)
}
