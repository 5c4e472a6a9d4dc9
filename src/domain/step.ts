import type { Json, JsonObject, JsonSchema } from './json.ts'

/**
 * The kinds of step, named by the field that marks them. A step has exactly one.
 *
 * All types here are the *normal form* of a definition (docs/language.md): no `sequence`, no field that equals its
 * default. A reader of a definition therefore applies the defaults given with each field.
 */
export const stepKinds = [
  'tool',
  'compute',
  'require',
  'choose',
  'steps',
  'ask',
  'approval',
  'call',
  'wait',
  'end',
] as const

export type StepKind = (typeof stepKinds)[number]

/** A CEL expression, as text. See docs/language.md for what is in scope. */
export type ExpressionText = string
/** Text with `{{path}}` references. */
export type TemplateText = string
/** `30s`, `10m`, `6h`, `5d`, `10 workdays`. */
export type DurationText = string

/** How a run that cannot go on as planned ends, or that it goes on all the same. */
export type OnFailure = 'escalated' | 'declined' | 'continue'

/** Who gets the escalation. Fields that are absent come from the definition, then from the tenant. */
export interface EscalateTo {
  readonly queue?: string
  readonly priority?: 'low' | 'normal' | 'high' | 'urgent'
  readonly assignee?: string
}

/** A condition: `text` for staff, `when` for the machine; one without `when` is shown and not enforced. */
export interface Condition {
  readonly text: string
  readonly when?: ExpressionText
  /** Wording for the customer. */
  readonly say?: TemplateText
  /** Kept from model and reply. Default false. */
  readonly confidential?: true
}

interface StepBase {
  /** Unique in the whole definition. */
  readonly key: string
  /** What the step does, for people. */
  readonly action: string
  /** Runs only when this holds; otherwise the step is `skipped`. */
  readonly when?: ExpressionText
  /** Default true. */
  readonly required?: false
  /** What the step should bring, for people. */
  readonly expectedOutput?: string
  readonly escalateTo?: EscalateTo
}

interface Loopable {
  /** An expression that gives a list. The step runs once per item, with `item` and `index` in scope. */
  readonly forEach?: ExpressionText
  /** 1 to 1,000, default 100. */
  readonly maxItems?: number
}

export interface Retry {
  /** Counts the first attempt; 1 to 20. */
  readonly maxAttempts: number
  /** Before the second attempt; default `1s`. */
  readonly delay?: DurationText
  /** Factor from one delay to the next; 1 to 10, default 2. */
  readonly backoff?: number
}

export interface Poll {
  readonly every: DurationText
  readonly until: ExpressionText
  readonly atMost: number
  readonly otherwise?: 'declined' | 'continue'
}

export interface ToolStep extends StepBase, Loopable {
  readonly tool: string
  /** The tool's input, with templates; default `{}`. */
  readonly with?: JsonObject
  /** Per attempt; default the tool's, else `30s`. */
  readonly timeout?: DurationText
  readonly retry?: Retry
  /** Must hold of `output`. */
  readonly expect?: ExpressionText
  /** Default `escalated`. */
  readonly onError?: Exclude<OnFailure, 'escalated'>
  readonly poll?: Poll
}

export interface ComputeStep extends StepBase {
  readonly compute: { readonly [name: string]: ExpressionText }
}

export interface RequireStep extends StepBase {
  readonly require: readonly Condition[]
  /** Default `escalated`. A list of steps ends in an `end`. */
  readonly otherwise?: 'declined' | readonly Step[]
}

export interface Choice {
  readonly text: string
  readonly when: ExpressionText
  readonly steps: readonly Step[]
}

export interface ChooseStep extends StepBase {
  readonly choose: readonly Choice[]
  /** Default `escalated`, with reason `no_branch`. */
  readonly otherwise?: 'continue' | readonly Step[]
}

export interface Repeat {
  readonly until: ExpressionText
  readonly atMost: number
  readonly otherwise?: 'declined' | 'continue'
}

export interface BlockStep extends StepBase, Loopable {
  readonly steps: readonly Step[]
  readonly repeat?: Repeat
}

export interface AskStep extends StepBase, Loopable {
  /** A role, `group:NAME` or `customer`. */
  readonly ask: string
  readonly message: TemplateText
  readonly answer: JsonSchema
  readonly deadline?: DurationText
  readonly remind?: DurationText
  /** Default `escalated`. */
  readonly onDeadline?: Exclude<OnFailure, 'escalated'>
}

export interface ApprovalStep extends StepBase, Loopable {
  /** A role or `group:NAME`. */
  readonly approval: string
  /** What is approved, with templates; the yes binds to its hash. */
  readonly show: Json
  /** Default 1. */
  readonly quorum?: number
  /** Keys of steps whose people may not approve. */
  readonly notBy?: readonly string[]
  readonly deadline?: DurationText
  readonly onDeadline?: Exclude<OnFailure, 'escalated'>
  readonly onDenied?: Exclude<OnFailure, 'escalated'>
}

export interface CallStep extends StepBase, Loopable {
  /** The key of the procedure to run. */
  readonly call: string
  readonly with?: JsonObject
}

export interface WaitStep extends StepBase {
  readonly wait: { readonly for: DurationText } | { readonly until: ExpressionText }
}

export interface EndStep extends StepBase {
  readonly end: 'resolved' | 'declined' | 'escalated'
  readonly text?: TemplateText
}

export type Step =
  | ToolStep
  | ComputeStep
  | RequireStep
  | ChooseStep
  | BlockStep
  | AskStep
  | ApprovalStep
  | CallStep
  | WaitStep
  | EndStep

/** The kind of a step that has been parsed: the one marking field that it has. */
export function stepKind(step: Step): StepKind {
  for (const kind of stepKinds) {
    // `choose` and `require` may hold an `otherwise` with steps, but only a block has `steps` itself.
    if (kind in step) return kind
  }
  throw new TypeError('a parsed step always has a kind')
}

/** The lists of steps that stand directly in a step, in the order of the document. */
function childLists(step: Step): readonly (readonly Step[])[] {
  const lists: (readonly Step[])[] = []
  if ('choose' in step) lists.push(...step.choose.map((choice) => choice.steps))
  if ('steps' in step) lists.push(step.steps)
  if ('otherwise' in step && typeof step.otherwise === 'object') lists.push(step.otherwise)
  return lists
}

/** Every step of a list and of all that is nested in it, in the order of the document: a step before its children. */
export function* walkSteps(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step
    for (const list of childLists(step)) yield* walkSteps(list)
  }
}
