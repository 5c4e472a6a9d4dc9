import type { Id } from './ids.ts'
import type { Principal } from './principal.ts'

/** What a switch stops: a procedure, by its key, or whatever uses a tool, by its name. */
export type SwitchKind = 'procedure' | 'tool'

/** An order that something is stopped, and its end. */
export interface KillSwitch {
  readonly id: Id<'switch'>
  readonly kind: SwitchKind
  /** The key of the procedure, or the name of the tool. */
  readonly name: string
  readonly reason: string
  readonly engagedBy: Principal
  readonly engagedAt: Date
  readonly liftedBy: Principal | null
  readonly liftedAt: Date | null
}

/** What an error says of a switch that stands in the way. */
export interface StoppedBy {
  readonly kind: SwitchKind
  readonly name: string
  readonly reason: string
  readonly by: string
  /** RFC 3339. */
  readonly since: string
}

export function stoppedBy({ kind, name, reason, engagedBy, engagedAt }: KillSwitch): StoppedBy {
  return { kind, name, reason, by: engagedBy.id, since: engagedAt.toISOString() }
}
