import { z } from 'zod'

/** What the shop's tools answer. */

export const address = z.object({
  address1: z.string(),
  address2: z.string(),
  city: z.string(),
  country: z.string(),
  state: z.string(),
  zip: z.string(),
})

const paymentMethod = z.looseObject({
  id: z.string(),
  source: z.enum(['credit_card', 'gift_card', 'paypal']),
  balance: z.number().optional(),
})

export const user = z.looseObject({
  user_id: z.string(),
  address,
  payment_methods: z.record(z.string(), paymentMethod),
})

const item = z.looseObject({
  item_id: z.string(),
  product_id: z.string(),
  price: z.number(),
})

const payment = z.object({
  transaction_type: z.enum(['payment', 'refund']),
  amount: z.number(),
  payment_method_id: z.string(),
})

export const order = z.looseObject({
  order_id: z.string(),
  user_id: z.string(),
  address,
  status: z.string(),
  items: z.array(item),
  payment_history: z.array(payment),
})

const variant = z.looseObject({
  item_id: z.string(),
  available: z.boolean(),
  price: z.number(),
})

export const product = z.looseObject({
  product_id: z.string(),
  variants: z.record(z.string(), variant),
})
