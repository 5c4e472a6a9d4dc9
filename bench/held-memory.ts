import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** What this process holds on to, in bytes of the heap: what a collection leaves. */
export function heldBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
