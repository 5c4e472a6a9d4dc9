import { sha256 } from './canonical.ts'

/** How the ids of people begin whom an issuer of tokens has let in. Nobody else is given such an id. */
export const issuedIdPrefix = 'oidc:'

/** How much of the hash of an issuer stands in the ids of its people, in hex digits. */
const issuerDigits = 16

/** The longest id, docs/decisions/0022-access.md. */
const maxLength = 128

/**
 * Who the subject of an issuer is here: `oidc:<16 hex digits of the SHA-256 of the issuer>:<subject>`, the same for ever.
 * A subject that an id cannot hold (blanks, other letters than ASCII, too long) stands there as `#` and its SHA-256, and so
 * does one that begins with `#`: two subjects never have one id.
 */
export function issuedId(issuer: string, subject: string): string {
  const begin = `${issuedIdPrefix}${sha256(issuer).slice(0, issuerDigits)}:`
  const fits = /^[!-~]+$/.test(subject) && begin.length + subject.length <= maxLength
  return fits && !subject.startsWith('#') ? `${begin}${subject}` : `${begin}#${sha256(subject)}`
}
