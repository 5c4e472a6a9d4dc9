import {
  isRecord,
  list,
  number,
  record,
  refuse,
  type State,
  text,
  type Value,
  value,
} from '../sopbench/live/state.ts'

/** One tool of the shop, on its users and orders and on the catalogue, which never changes. */
export type ShopTool = (state: State, args: State, catalogue: State) => Value

const order = (state: State, args: State) => record(state, 'orders', text(args, 'order_id'))
const lower = (one: Value) => String(one).toLowerCase()
const cents = (amount: number) => Math.round(amount * 100) / 100
const sortedTexts = (texts: Value[]) =>
  texts.map(String).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))

function findUser(state: State, fits: (user: Value) => boolean): string {
  const found = Object.entries(record(state, 'users')).find(([, user]) => fits(user))
  return found?.[0] ?? refuse('nobody is known by that')
}

/** The payment method that an order's owner has under an id. */
function methodOf(state: State, of: State, id: Value): State {
  return record(state, 'users', text(of, 'user_id'), 'payment_methods', String(id))
}

function payInto(method: State, amount: number): void {
  if (method.source === 'gift_card') method.balance = cents(number(method, 'balance') + amount)
}

function variantOf(catalogue: State, id: Value): State {
  const variants = Object.values(catalogue).map((product) => value(product, 'variants', String(id)))
  const found = variants.find(isRecord)
  return found ?? refuse('there is no such variant')
}

interface Pair {
  readonly old: State
  readonly next: State
}

/** Old items of an order with the variants that take their place; an id that occurs twice stands for two items. */
function pairsOf(of: State, args: State, catalogue: State): readonly Pair[] {
  const left = list(of, 'items').filter(isRecord)
  const next = list(args, 'new_item_ids')
  return list(args, 'item_ids').map((id, index) => {
    const at = left.findIndex((item) => item.item_id === id)
    const [old] = at < 0 ? [] : left.splice(at, 1)
    if (old === undefined) return refuse('the order has no such item')
    return { old, next: variantOf(catalogue, next[index] ?? null) }
  })
}

function differenceOf(pairs: readonly Pair[]): number {
  return pairs.reduce((sum, { old, next }) => sum + number(next, 'price') - number(old, 'price'), 0)
}

const addressFields = ['address1', 'address2', 'city', 'state', 'country', 'zip']
const addressOf = (args: State): State =>
  Object.fromEntries(addressFields.map((name) => [name, text(args, name)]))

export const shop: Readonly<Record<string, ShopTool>> = {
  find_user_id_by_email: (state, args) =>
    findUser(state, (user) => lower(value(user, 'email')) === lower(text(args, 'email'))),
  find_user_id_by_name_zip: (state, args) =>
    findUser(
      state,
      (user) =>
        lower(value(user, 'name', 'first_name')) === lower(text(args, 'first_name')) &&
        lower(value(user, 'name', 'last_name')) === lower(text(args, 'last_name')) &&
        value(user, 'address', 'zip') === text(args, 'zip'),
    ),
  get_user_details: (state, args) => record(state, 'users', text(args, 'user_id')),
  get_order_details: order,
  get_products_details: (_, args, catalogue) =>
    Object.fromEntries(
      list(args, 'product_ids').map((id) => [String(id), record(catalogue, String(id))]),
    ),
  cancel_pending_order(state, args) {
    const cancelled = order(state, args)
    const payments = list(cancelled, 'payment_history').filter(isRecord)
    for (const { amount = 0, payment_method_id = '' } of payments) {
      list(cancelled, 'payment_history').push({
        transaction_type: 'refund',
        amount,
        payment_method_id,
      })
      payInto(methodOf(state, cancelled, payment_method_id), Number(amount))
    }
    cancelled.status = 'cancelled'
    cancelled.cancel_reason = text(args, 'reason')
    return cancelled
  },
  return_delivered_order_items(state, args) {
    return Object.assign(order(state, args), {
      status: 'return requested',
      return_items: sortedTexts(list(args, 'item_ids')),
      return_payment_method_id: text(args, 'payment_method_id'),
    })
  },
  exchange_delivered_order_items(state, args, catalogue) {
    const exchanged = order(state, args)
    return Object.assign(exchanged, {
      exchange_price_difference: cents(differenceOf(pairsOf(exchanged, args, catalogue))),
      status: 'exchange requested',
      exchange_items: sortedTexts(list(args, 'item_ids')),
      exchange_new_items: sortedTexts(list(args, 'new_item_ids')),
      exchange_payment_method_id: text(args, 'payment_method_id'),
    })
  },
  modify_pending_order_items(state, args, catalogue) {
    const modified = order(state, args)
    const pairs = pairsOf(modified, args, catalogue)
    const difference = differenceOf(pairs)
    const id = text(args, 'payment_method_id')
    list(modified, 'payment_history').push({
      transaction_type: difference > 0 ? 'payment' : 'refund',
      amount: Math.abs(difference),
      payment_method_id: id,
    })
    payInto(methodOf(state, modified, id), -difference)
    // Every changed item gets the price and the options of the last pair: a quirk of the benchmark.
    const last = pairs.at(-1)?.next
    for (const { old, next } of pairs) {
      old.item_id = text(next, 'item_id')
      old.price = number(last, 'price')
      old.options = value(last, 'options')
    }
    modified.status = 'pending (item modified)'
    return modified
  },
  modify_pending_order_address(state, args) {
    return Object.assign(order(state, args), { address: addressOf(args) })
  },
  modify_pending_order_payment(state, args) {
    const paid = order(state, args)
    const [first] = list(paid, 'payment_history').filter(isRecord)
    const amount = number(first, 'amount')
    const [from, to] = [text(first, 'payment_method_id'), text(args, 'payment_method_id')]
    list(paid, 'payment_history').push(
      { transaction_type: 'payment', amount, payment_method_id: to },
      { transaction_type: 'refund', amount, payment_method_id: from },
    )
    payInto(methodOf(state, paid, to), -amount)
    payInto(methodOf(state, paid, from), amount)
    return paid
  },
  modify_user_address(state, args) {
    const user = record(state, 'users', text(args, 'user_id'))
    return Object.assign(user, { address: addressOf(args) })
  },
}
