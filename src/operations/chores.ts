import type { AppContext } from '../context.ts'
import { isOutage } from '../db/database-errors.ts'
import { type CarriedOut, carryOutSchedules } from './carry-out-schedules.ts'
import { settleSwitches } from './settle-switches.ts'

/**
 * What has to be done without anybody asking for it: what switches hold or let go that whoever turned them could not, and
 * activations that are due. Any number of processes may do it at once; what is not due costs a query each.
 */
export async function doChores(
  app: AppContext,
  onActivation?: (carriedOut: CarriedOut) => void,
): Promise<void> {
  // First, so that nothing is carried on that a switch stops.
  for (const chore of [settleSwitches, carryOutSchedules]) {
    try {
      await (chore === carryOutSchedules ? carryOutSchedules(app, onActivation) : chore(app))
    } catch (error) {
      if (isOutage(error)) throw error
      // Runs do not wait for it: it is tried again with the next round.
      app.log.error({ err: error, chore: chore.name }, 'a chore has failed')
    }
  }
}
