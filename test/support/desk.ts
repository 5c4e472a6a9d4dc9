import { createDeskTools } from '../../seeds/desk-tools.ts'
import { createToolRegistry } from '../../src/domain/tool-registry.ts'

const nobody = () => Promise.reject(new Error('no tool is called here'))

/** The tools of the demo's payment desk, to be known and not to be called. */
export const deskRegistry = createToolRegistry(
  createDeskTools({ findRefund: nobody, recordRefund: nobody, recordMessage: nobody }),
)
