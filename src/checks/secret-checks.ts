import { isJsonObject, type Json } from '../domain/json.ts'
import type { DefinitionCheck } from './check.ts'
import type { Path } from './findings.ts'

/** Forms that hardly anything but a secret has. All are matched in linear time. */
const forms: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/],
  ['an access key of AWS', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['a token of GitHub', /\b(?:gh[opsur]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})/],
  ['a token of Slack', /\bxox[abeoprs]-[A-Za-z0-9-]{10}/],
  ['an API key', /\b(?:sk|rk|pk)[-_](?:live|test|proj|ant|svcacct)?[-_]?[A-Za-z0-9_-]{20}/],
  ['an API key of Google', /\bAIza[0-9A-Za-z_-]{35}/],
  ['a signed token (JWT)', /\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8}/],
  ['a password in a URL', /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,100}:[^\s/@{]{3,100}@/],
  ['an authorization header', /\b(?:Bearer|Basic) [A-Za-z0-9+/=._-]{20}/],
]

/** Names of members whose values are secrets. */
const secretName =
  /^(?:.*[_-])?(?:password|passwd|passphrase|secret|client_?secret|api_?key|private_?key|access_?token|auth_?token)$/i

/**
 * Finds literals that look like secrets, anywhere in the definition: a version is kept for ever, and read by everyone
 * who may read playbooks.
 */
export function checkSecrets(check: DefinitionCheck): void {
  visit(check, { ...check.definition } as unknown as Json, [], undefined)
}

function visit(check: DefinitionCheck, value: Json, path: Path, name: string | undefined): void {
  if (typeof value === 'string') {
    const found = forms.find(([, pattern]) => pattern.test(value))?.[0]
    const what = found ?? (isSecretMember(name, value) ? `a value for '${name}'` : undefined)
    if (what === undefined) return
    const message = `this looks like ${what}, and a version is kept for ever; give it to the tool by its own configuration, and renew it if it was real`
    check.add('secret-literal', path, message)
  } else if (isArray(value)) {
    for (const [index, item] of value.entries()) visit(check, item, [...path, index], name)
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) visit(check, member, [...path, key], key)
  }
}

/** A word of letters alone is a name or a placeholder; a reference is filled in by the run. */
function isSecretMember(name: string | undefined, value: string): boolean {
  return (
    name !== undefined &&
    secretName.test(name) &&
    /^[^\s{}]{8,}$/.test(value) &&
    /[0-9]/.test(value) &&
    /[A-Za-z]/.test(value)
  )
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
