/**
 * What holds where a definition says nothing. The normal form leaves a field out when it equals its default, so these
 * are read at run time as well. Changing one changes what approved versions mean: it needs a new semantics version.
 */
export const defaultCategory = 'general'
/** Running time of an execution, waiting not counted. */
export const defaultTimeLimit = '1h'
/** Per attempt, where neither the step nor its tool names a timeout. */
export const defaultToolTimeoutMs = 30_000
/** Items that a `forEach` may walk. */
export const defaultMaxItems = 100
/** Before the second attempt. */
export const defaultRetryDelay = '1s'
/** Factor from one delay to the next. */
export const defaultRetryBackoff = 2
/** Distinct people whose yes an `approval` needs. */
export const defaultQuorum = 1
