import type { EscalationRule } from '../domain/definition.ts'
import type { Duration } from '../domain/duration.ts'
import type { Expression } from '../domain/expression.ts'
import type { SchemaValidator } from '../domain/json-schema.ts'
import type {
  ApprovalStep,
  AskStep,
  BlockStep,
  CallStep,
  ChooseStep,
  ComputeStep,
  Condition,
  EndStep,
  OnFailure,
  RequireStep,
  StepKind,
  ToolStep,
  WaitStep,
} from '../domain/step.ts'
import type { Template } from '../domain/template.ts'

export interface PlannedCondition<C extends Condition = Condition> {
  readonly condition: C
  /** Absent for prose, which is shown and not enforced. */
  readonly when?: Expression
}

/** Within what time, and from when on, a case is to be done. */
export interface PlannedDue {
  readonly after: Duration
  /** Absent: from the start of the run. */
  readonly from?: Expression
  readonly warn?: Duration
}

/** An escalation rule that can become due. */
export interface DueRule {
  /** Its place among all rules of the definition. */
  readonly index: number
  readonly condition: EscalationRule
  readonly when: Expression
}

/** What makes a step run more than once. One with both is a loop of rounds for each item. */
export interface Loops {
  /** Once for each item of a list. */
  readonly each?: { readonly list: Expression; readonly maxItems: number }
  /** Again until a condition holds. */
  readonly rounds?: {
    readonly until: Expression
    readonly atMost: number
    readonly otherwise: OnFailure
    /** From the end of one round to the next; 0 for a block. */
    readonly everyMs: number
  }
}

interface NodeBase {
  readonly key: string
  readonly kind: StepKind
  readonly when?: Expression
  /** How many loops are around this step, and so how many numbers its `iteration` has outside its own loops. */
  readonly depth: number
  readonly loops: Loops
  /** The list that this step stands in belongs to this node; absent at the top. */
  readonly parent?: PlanNode
  /** The next step of the same list; absent for the last. */
  next?: PlanNode
}

export interface ToolNode extends NodeBase {
  readonly kind: 'tool'
  readonly step: ToolStep
  readonly input: Template
  readonly expect?: Expression
  readonly timeoutMs?: number
  readonly retry: {
    readonly maxAttempts: number
    readonly delayMs: number
    readonly backoff: number
  }
}

export interface ComputeNode extends NodeBase {
  readonly kind: 'compute'
  readonly step: ComputeStep
  readonly values: readonly (readonly [name: string, value: Expression])[]
}

export interface RequireNode extends NodeBase {
  readonly kind: 'require'
  readonly step: RequireStep
  readonly conditions: readonly PlannedCondition[]
  /** First step of `otherwise`, where that is a list. */
  otherwise?: PlanNode
}

export interface ChooseNode extends NodeBase {
  readonly kind: 'choose'
  readonly step: ChooseStep
  choices: readonly { readonly text: string; readonly when: Expression; readonly first: PlanNode }[]
  otherwise?: PlanNode
}

export interface BlockNode extends NodeBase {
  readonly kind: 'steps'
  readonly step: BlockStep
  first?: PlanNode
  /** Keys of all steps inside: a round of a loop begins with all of them pending. */
  inner: readonly string[]
}

export interface EndNode extends NodeBase {
  readonly kind: 'end'
  readonly step: EndStep
  readonly text?: Template
}

export interface AskNode extends NodeBase {
  readonly kind: 'ask'
  readonly step: AskStep
  readonly message: Template
  readonly answer: SchemaValidator
  readonly deadline?: Duration
  readonly remind?: Duration
}

export interface ApprovalNode extends NodeBase {
  readonly kind: 'approval'
  readonly step: ApprovalStep
  readonly show: Template
  readonly deadline?: Duration
}

export interface CallNode extends NodeBase {
  readonly kind: 'call'
  readonly step: CallStep
  readonly input: Template
}

export interface WaitNode extends NodeBase {
  readonly kind: 'wait'
  readonly step: WaitStep
  readonly until: Duration | Expression
}

/** A step that waits for a person, another run, or a time. */
export type WaitingNode = AskNode | ApprovalNode | CallNode | WaitNode

export type PlanNode =
  | ToolNode
  | ComputeNode
  | RequireNode
  | ChooseNode
  | BlockNode
  | EndNode
  | WaitingNode

/** How many loops a step has of its own: so many numbers its `iteration` has more in a round. */
export function loopDepth({ loops }: PlanNode): number {
  return (loops.each === undefined ? 0 : 1) + (loops.rounds === undefined ? 0 : 1)
}
