import type { ColumnType } from 'kysely'
import type { Json } from '../../domain/json.ts'

/**
 * A `jsonb` column. It is written as JSON text (`canonicalJson(value)`), because the driver would turn a bare array
 * into a PostgreSQL array; it is read as a value, with its keys in no particular order.
 */
export type JsonColumn = ColumnType<Json, string, string>
export type NullableJsonColumn = ColumnType<Json | null, string | null | undefined, string | null>

/** A nullable column that may be left out of an insert, as kysely treats `T | null` already. */
export type Nullable<T> = T | null
