import type { FastifyInstance } from 'fastify'
import type { Door } from './door.ts'

/**
 * `/healthz`: the process is there. `/readyz`: it takes requests, which needs the database, and is over once it is told to
 * stop, so that a balancer sends it no more.
 */
export function addHealth(server: FastifyInstance, { app, isStopping }: Door): void {
  server.get('/healthz', async () => ({ status: 'ok' }))
  server.get('/readyz', async (_request, reply) => {
    if (isStopping()) return reply.code(503).send({ status: 'stopping' })
    try {
      await app.database.system.query('ready', 'SELECT 1', [])
      return { status: 'ok' }
    } catch (error) {
      app.log.warn(
        { err: error },
        'the database does not answer, so that this process is not ready',
      )
      return reply.code(503).send({ status: 'database unavailable' })
    }
  })
}
