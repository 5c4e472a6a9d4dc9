import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppContext } from '../context.ts'
import type { Principal } from '../domain/principal.ts'

/** What every handler of this door works with. */
export interface Door {
  readonly app: AppContext
  /**
   * Who calls, looked up anew for each request: a key that was revoked a moment ago lets nobody in.
   *
   * @throws ServiceError `CREDENTIAL_MISSING`, what `authenticate` throws, and `RATE_LIMITED` after too many refusals.
   */
  readonly identify: (request: FastifyRequest) => Promise<Principal>
  /**
   * The same for a request that has just come: it is counted, and the answer says by its headers how many more may come.
   *
   * @throws ServiceError as `identify`, and `RATE_LIMITED` for one too many.
   */
  readonly admit: (request: FastifyRequest, reply: FastifyReply) => Promise<Principal>
  readonly isStopping: () => boolean
  /** A run that goes on behind its answer: the door does not close before it is done. What goes wrong there is logged. */
  readonly inBackground: (work: Promise<unknown>, executionId: string) => void
}
