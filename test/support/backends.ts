import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** How the database tests reach a PostgreSQL server, if they can. */
export type PostgresSource = 'url' | 'container' | undefined

/**
 * A server named by TEST_DATABASE_URL (a superuser's URL of any database on it), else one in a container, else none:
 * the database tests then run on PGlite alone.
 */
export async function findPostgres(): Promise<PostgresSource> {
  if (process.env.TEST_DATABASE_URL) return 'url'
  // Asking testcontainers takes a second, so it is asked only where an engine may be.
  if (process.env.DOCKER_HOST === undefined && !sockets.some((path) => existsSync(path))) {
    return undefined
  }
  const { getContainerRuntimeClient } = await import('testcontainers')
  try {
    await getContainerRuntimeClient()
    return 'container'
  } catch {
    return undefined
  }
}

const sockets = [
  '/var/run/docker.sock',
  join(homedir(), '.docker/run/docker.sock'),
  join(homedir(), '.docker/desktop/docker.sock'),
  join(process.env.XDG_RUNTIME_DIR ?? '/run/user/0', 'docker.sock'),
  join(process.env.XDG_RUNTIME_DIR ?? '/run/user/0', 'podman/podman.sock'),
]
