import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/library.ts'

const renewEveryMs = 2_000

/** Activates a copy of a procedure now and then: runs that were started before go on with what they have pinned. */
export function renewVersions(
  client: Pick<Client, 'createVersion' | 'activateVersion'>,
  procedureKey: string,
): { stop(): Promise<void> } {
  let isStopping = false
  let seenActive = 1

  async function renew(): Promise<void> {
    const { versionNumber } = await client.createVersion({ procedureKey })
    await client.activateVersion({ procedureKey, versionNumber, seenActive })
    seenActive = versionNumber
  }

  async function loop(): Promise<void> {
    while (!isStopping) {
      // The database may be away. What was activated without a word of it is seen in the next refusal.
      await renew().catch((error: unknown) => {
        const { current } = Object(Object(error).details)
        if (typeof current === 'number') seenActive = current
      })
      for (let waited = 0; waited < renewEveryMs && !isStopping; waited += 100) await sleep(100)
    }
  }

  const looping = loop()
  return {
    async stop() {
      isStopping = true
      await looping
    },
  }
}
