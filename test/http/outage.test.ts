import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { answerFailure } from '../../src/http/failures.ts'
import { createLogger } from '../../src/logger.ts'

const place = { url: 'postgresql://somebody:secret@db.internal:5432/desk' }

it('an outage of the database is told without where it is', async () => {
  const server = fastify()
  const log = createLogger('silent')
  server.setErrorHandler((error, { id }, reply) => answerFailure({ log }, place, error, id, reply))
  server.get('/', async () => {
    throw Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), {
      ...{ code: 'ECONNREFUSED', syscall: 'connect' },
    })
  })
  const { statusCode, body } = await server.inject('/')
  expect([statusCode, JSON.parse(body).code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
  expect(body).not.toMatch(/10\.1\.2\.3|db\.internal|desk|somebody|ECONN/)
  await server.close()
})
