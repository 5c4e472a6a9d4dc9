import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { sha256 } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Principal } from '../domain/principal.ts'
import { authenticate } from '../operations/authenticate.ts'
import { operations } from '../operations/registry.ts'
import type { Door } from './door.ts'
import type { RequestWatch } from './watch-requests.ts'

/** Who may come in here: whoever can read the lock file of the data folder, as the person at this machine. */
export interface LocalAccess {
  readonly token: string
  readonly person: Principal
}

/** The header with the key of a command that has one. */
export const keyHeader = 'stepwarden-key'

/**
 * The door of the command line of this machine: raw input in, output out, by the name of the operation. Without a key the
 * caller is the local person, as on a folder that nobody serves.
 */
export function addLocalDoor(
  server: FastifyInstance,
  door: Door,
  access: LocalAccess,
  watch: RequestWatch,
): void {
  const known = new Map(Object.entries(operations))
  server.post<{ Params: { operation: string } }>('/local/:operation', {
    async onRequest({ headers }) {
      if (!isSame(headers.authorization ?? '', `Bearer ${access.token}`)) {
        throw new ServiceError('CREDENTIAL_MISSING', {})
      }
    },
    async handler({ params, headers, body, method, url, raw }) {
      const operation = known.get(params.operation)
      if (operation === undefined) throw new ServiceError('ROUTE_NOT_FOUND', { method, path: url })
      const key = headers[keyHeader]
      const principal =
        key === undefined ? access.person : await authenticate(door.app, String(key))
      const caller = { principal, origin: 'cli', isStopping: door.isStopping } as const
      return (await operation.invoke(watch.contextFor(raw, principal), caller, body)) ?? null
    },
  })
}

/** Takes the same time wherever two texts differ. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)))
}
