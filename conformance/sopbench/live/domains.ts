import { bank } from './bank.ts'
import { dmv } from './dmv.ts'
import { healthcare } from './healthcare.ts'
import { library } from './library.ts'
import type { LiveTool } from './state.ts'
import { university } from './university.ts'

/** The tools of the domains that can be run live, by domain and name. */
export const liveDomains: Readonly<Record<string, Readonly<Record<string, LiveTool>>>> = {
  bank,
  dmv,
  healthcare,
  library,
  university,
}
