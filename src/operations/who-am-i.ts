import { z } from 'zod'
import { roles } from '../domain/principal.ts'
import { defineOperation } from './define.ts'

/** Who the caller is here: whom the credential lets in, as they are at this moment. */
export const whoAmI = defineOperation({
  name: 'whoAmI',
  summary: 'Say whom the key lets in, with which roles',
  input: z.strictObject({}),
  output: z.object({
    principalId: z.string(),
    kind: z.enum(['human', 'ai', 'service']),
    roles: z.array(z.enum(roles)).readonly(),
    groups: z.array(z.string()).readonly(),
    tenantId: z.string(),
    isAuthenticated: z
      .boolean()
      .describe('False for the local person, whom no key has let in: no approval of theirs counts'),
  }),
  errors: [],
  roles,
  async run({ caller: { principal } }) {
    const { id, kind, roles: held, groups, tenantId, unauthenticated } = principal
    const isAuthenticated = unauthenticated !== true
    return { principalId: id, kind, roles: held, groups, tenantId, isAuthenticated }
  },
})
