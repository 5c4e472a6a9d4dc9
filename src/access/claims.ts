import type { OidcConfig } from '../config/access.ts'
import type { Principal, Role } from '../domain/principal.ts'
import { roles } from '../domain/principal.ts'

/** What a token says, as far as JSON goes. */
export type Claims = Readonly<Record<string, unknown>>

/** More groups than an admin may give anybody by hand: somebody with more has none, rather than some of them. */
const maxGroups = 100

/**
 * What stands under a name; undefined when nothing does. A name may be one claim, dots and all
 * (`https://acme.example/roles`), or go down into objects (`resource_access.my.client.roles`); the longest name that is
 * there is taken first.
 */
export function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const head = name.slice(0, dot)
    const inner = Object.hasOwn(claims, head) ? claims[head] : undefined
    if (!isObject(inner)) continue
    const found = findClaim(inner, name.slice(dot + 1))
    if (found !== undefined) return found
  }
  return undefined
}

/** The roles that a token gives, in alphabetical order, each once. What is no role here gives nothing. */
export function rolesOf(
  claims: Claims,
  { rolesClaim, roleMap }: Pick<OidcConfig, 'rolesClaim' | 'roleMap'>,
): readonly Role[] {
  const values = valuesOf(claims, rolesClaim)
  const given = new Set<string>(values.flatMap((value) => roleMap?.get(value) ?? []))
  if (roleMap === undefined) for (const value of values) given.add(value)
  return roles.filter((role) => given.has(role)).sort()
}

/** The groups that a token names, as far as a playbook can name them, in order, each once. */
export function groupsOf(
  claims: Claims,
  { groupsClaim }: Pick<OidcConfig, 'groupsClaim'>,
): readonly string[] {
  if (groupsClaim === undefined) return []
  const named = valuesOf(claims, groupsClaim).filter((value) => isGroup.test(value))
  const groups = [...new Set(named)].sort()
  return groups.length > maxGroups ? [] : groups
}

const isGroup = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** How people call whom a token is about; undefined when it does not say. */
export function nameOf(claims: Claims): string | undefined {
  const names = [claims.name, claims.preferred_username, claims.email]
  return names.find((name): name is string => typeof name === 'string' && isName.test(name))
}

// Letters of any script, no control characters, and no halves of characters, which cannot be stored.
const isName = /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,200}$/u

/**
 * Whether a person has signed in. A token that a program was given for itself (client credentials) has the program as its
 * subject; issuers show that in ways of their own. In doubt it is no person: the approvals of a program do not count.
 */
export function kindOf(claims: Claims): Principal['kind'] {
  const { sub, gty, idtyp, preferred_username: username } = claims
  const clients = [claims.client_id, claims.azp, claims.appid].filter(
    (id) => typeof id === 'string',
  )
  const isProgram =
    // RFC 9068, section 2.2; Google's service accounts.
    clients.some((id) => id === sub) ||
    // Auth0.
    gty === 'client-credentials' ||
    clients.some((id) => sub === `${id}@clients`) ||
    // Microsoft Entra; without the optional `idtyp` its tokens of programs have no scopes and name their own object.
    idtyp === 'app' ||
    (claims.oid !== undefined && claims.oid === sub && claims.scp === undefined) ||
    // Keycloak.
    (typeof username === 'string' && username.startsWith('service-account-'))
  return isProgram ? 'service' : 'human'
}

/** The texts of a claim: a list of them, one alone, or the words of a `scope`, which is one text by definition. */
function valuesOf(claims: Claims, name: string): readonly string[] {
  const found = findClaim(claims, name)
  if (Array.isArray(found)) return found.filter((value) => typeof value === 'string')
  if (typeof found !== 'string') return []
  return /(^|\.)(scope|scp)$/.test(name) ? found.split(' ') : [found]
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
