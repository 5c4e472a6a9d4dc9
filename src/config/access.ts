import { z } from 'zod'
import { ServiceError } from '../domain/errors.ts'
import { type Role, roles } from '../domain/principal.ts'
import { requestWording } from '../domain/request-problems.ts'

/** Whose tokens let people in, and what their claims mean here. */
export interface OidcConfig {
  /** Exactly as it stands in tokens and in the issuer's own description of itself. */
  readonly issuer: string
  /** What a token must be made for. */
  readonly audience: string
  /** Where the roles stand: the name of a claim, dots going down into objects. */
  readonly rolesClaim: string
  /** Which roles a value of that claim gives; absent: a value is a role of the same name, or nothing. */
  readonly roleMap?: ReadonlyMap<string, readonly Role[]>
  /** Where the groups stand; absent: nobody has any. */
  readonly groupsClaim?: string
  /** Where the tenant stands; absent: everybody is of `tenantId`. */
  readonly tenantClaim?: string
  readonly tenantId: string
}

/** Who may pass, and how fast. */
export interface AccessConfig {
  /** Absent: keys alone let anybody in. */
  readonly oidc?: OidcConfig
  /** Of each principal; absent: as fast as they like. */
  readonly rateLimit?: { readonly perSecond: number; readonly burst: number }
}

const claim = z.string().min(1).max(500)

const map = z.string().transform((text, context) => {
  const found = new Map<string, Role[]>()
  for (const entry of text.split(',')) {
    // The last one divides, since a value may hold one itself.
    const at = entry.lastIndexOf('=')
    const value = entry.slice(0, Math.max(0, at)).trim()
    const role = roles.find((known) => known === entry.slice(at + 1).trim())
    if (value === '' || role === undefined) {
      const message = `has '${entry.trim()}', which is not VALUE=ROLE with one of ${roles.join(', ')}`
      context.addIssue({ code: 'custom', message })
    } else {
      found.set(value, [...(found.get(value) ?? []), role])
    }
  }
  return found
})

const rate = z
  .string()
  .refine((text) => text === 'off' || /^[0-9]{1,7}\/[0-9]{1,7}$/.test(text), {
    message: "must be requests a second and how many at once, such as 50/200, or 'off'",
    abort: true,
  })
  .transform((text) => {
    const [perSecond = 0, burst = 0] = text.split('/').map(Number)
    return text === 'off' ? null : { perSecond, burst }
  })
  .refine((given) => given === null || (given.perSecond > 0 && given.burst > 0), {
    message: "must not be nothing; 'off' is no limit",
  })

const issuer = z
  .string()
  .refine(isIssuer, 'must be an https URL without user, password, query or fragment')
const audience = z.string().min(1).max(500)

const oidcOptions = z.strictObject({
  issuer,
  audience,
  rolesClaim: claim.default('roles'),
  roleMap: z.record(z.string().min(1), z.array(z.enum(roles)).readonly()).optional(),
  groupsClaim: claim.optional(),
  tenantClaim: claim.optional(),
  tenantId: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens')
    .default('default'),
})

/** Whose tokens let people in, as an application says it: what `OidcConfig` says, with an object for the map of roles. */
export type OidcOptions = z.input<typeof oidcOptions>

/**
 * Whose tokens let people in, from an application's options.
 *
 * @throws ServiceError `CONFIG_INVALID` with every problem at once.
 */
export function readOidcOptions(options: OidcOptions): OidcConfig {
  const parsed = oidcOptions.safeParse(options, { error: requestWording })
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({
      path: ['oidc', ...path].join('.'),
      message,
    }))
    throw new ServiceError('CONFIG_INVALID', { problems })
  }
  const { roleMap, groupsClaim, tenantClaim, ...rest } = parsed.data
  return {
    ...rest,
    ...(roleMap && { roleMap: new Map(Object.entries(roleMap)) }),
    ...(groupsClaim !== undefined && { groupsClaim }),
    ...(tenantClaim !== undefined && { tenantClaim }),
  }
}

/** The variables of the environment that say who may pass. */
export const accessVariables = {
  STEPWARDEN_OIDC_ISSUER: issuer.optional(),
  STEPWARDEN_OIDC_AUDIENCE: audience.optional(),
  STEPWARDEN_OIDC_ROLES_CLAIM: claim.optional(),
  STEPWARDEN_OIDC_ROLE_MAP: map.optional(),
  STEPWARDEN_OIDC_GROUPS_CLAIM: claim.optional(),
  STEPWARDEN_OIDC_TENANT_CLAIM: claim.optional(),
  STEPWARDEN_RATE_LIMIT: rate.default({ perSecond: 50, burst: 200 }),
}

type Variables = z.infer<z.ZodObject<typeof accessVariables>>

/** What is missing: of the variables that go together some are set and others not. */
export function findAccessProblems(
  variables: Readonly<Record<string, unknown>>,
): readonly { readonly path: string; readonly message: string }[] {
  const required = ['STEPWARDEN_OIDC_ISSUER', 'STEPWARDEN_OIDC_AUDIENCE'] as const
  const given = Object.entries(variables).find(
    ([name, value]) => name.startsWith('STEPWARDEN_OIDC_') && value !== undefined,
  )
  if (given === undefined) return []
  return required
    .filter((name) => variables[name] === undefined)
    .map((path) => ({ path, message: `is missing, and ${given[0]} is set` }))
}

/** `tenantId`: whose the people are when no claim says it. */
export function toAccessConfig(variables: Variables, tenantId: string): AccessConfig {
  const {
    STEPWARDEN_OIDC_ISSUER: ofIssuer,
    STEPWARDEN_OIDC_AUDIENCE: forAudience,
    STEPWARDEN_OIDC_ROLES_CLAIM: rolesClaim = 'roles',
    STEPWARDEN_OIDC_ROLE_MAP: roleMap,
    STEPWARDEN_OIDC_GROUPS_CLAIM: groupsClaim,
    STEPWARDEN_OIDC_TENANT_CLAIM: tenantClaim,
    STEPWARDEN_RATE_LIMIT: rateLimit,
  } = variables
  return {
    ...(ofIssuer !== undefined &&
      forAudience !== undefined && {
        oidc: {
          issuer: ofIssuer,
          audience: forAudience,
          rolesClaim,
          tenantId,
          ...(roleMap && { roleMap }),
          ...(groupsClaim !== undefined && { groupsClaim }),
          ...(tenantClaim !== undefined && { tenantClaim }),
        },
      }),
    ...(rateLimit && { rateLimit }),
  }
}

/** Over plain HTTP a key set could be exchanged on its way, so that is for this machine alone. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === '' && isSafeUrl(text)
}

/** Whether what is read from there is what the one who is named there has written. */
export function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return protocol === 'https:' || (protocol === 'http:' && isHere)
}
