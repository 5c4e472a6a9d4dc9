import type { FastifyRequest } from 'fastify'
import type { AppContext } from '../context.ts'
import type { Principal } from '../domain/principal.ts'

/** What every handler of this door works with. */
export interface Door {
  readonly app: AppContext
  /**
   * Who calls, looked up anew for each request: a key that was revoked a moment ago lets nobody in.
   *
   * @throws ServiceError `CREDENTIAL_MISSING`, and what `authenticate` throws.
   */
  readonly identify: (request: FastifyRequest) => Promise<Principal>
  readonly isStopping: () => boolean
  /** Work that goes on behind an answer: the door does not close before it is done. What goes wrong there is logged. */
  readonly inBackground: (work: Promise<unknown>) => void
}
