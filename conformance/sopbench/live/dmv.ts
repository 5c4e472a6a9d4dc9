import {
  add,
  done,
  has,
  type LiveTool,
  list,
  login,
  movedDate,
  record,
  refuse,
  type State,
  text,
  value,
} from './state.ts'

const account = (state: State, args: State) => record(state, 'accounts', text(args, 'username'))
const vehicle = (state: State, args: State) =>
  record(account(state, args), 'vehicles', text(args, 'plate_num'))
const license = (state: State, args: State) => record(account(state, args), 'driver_license')

function test(state: State, args: State): State {
  slots(state, args)
  return record(account(state, args), 'tests', text(args, 'test_type'))
}

const slots = (state: State, args: State) => list(state, 'test_slots', text(args, 'test_type'))

function yearsOn(date: string, years: number): string {
  return `${Number(date.slice(0, 4)) + years}${date.slice(4)}`
}

export const dmv: Readonly<Record<string, LiveTool>> = {
  login_user: login('identification', 'accounts'),
  logout_user: () => done,
  authenticate_admin_password: login('admin_password', 'accounts'),
  set_admin_password(state, args) {
    account(state, args).admin_password = text(args, 'admin_password_new')
    return done
  },
  register_vehicle(state, args) {
    record(account(state, args), 'vehicles')[text(args, 'plate_num')] = {
      model: value(args, 'model'),
      vin: value(args, 'vin'),
      reg_date: text(state, 'interaction_time').slice(0, 10),
      address: value(account(state, args), 'address'),
      insurance_status: 'expired',
    }
    return done
  },
  get_reg_status: (state, args) => text(vehicle(state, args), 'reg_date'),
  change_vehicle_address(state, args) {
    vehicle(state, args).address = text(args, 'address_new')
    return done
  },
  validate_vehicle_insurance(state, args) {
    vehicle(state, args).insurance_status = 'valid'
    return done
  },
  renew_vehicle(state, args) {
    const date = movedDate(text(vehicle(state, args), 'reg_date'), 365)
    vehicle(state, args).reg_date = date
    return date
  },
  get_dl_status: (state, args) => text(license(state, args), 'exp_date'),
  update_dl_legal_name(state, args) {
    license(state, args).legal_name = text(args, 'new_name')
    return done
  },
  change_dl_address(state, args) {
    license(state, args).address = text(args, 'address_new')
    return done
  },
  renew_dl(state, args) {
    const date = yearsOn(text(license(state, args), 'exp_date'), 5)
    license(state, args).exp_date = date
    return date
  },
  show_available_test_slots: slots,
  schedule_test(state, args) {
    const booked = test(state, args)
    booked.status = 'scheduled'
    booked.scheduled_time = text(args, 'schedule_time')
    add(booked, 'attempts', 1)
    return done
  },
  cancel_test(state, args) {
    const cancelled = test(state, args)
    cancelled.status = 'not scheduled'
    cancelled.scheduled_time = null
    add(cancelled, 'attempts', -1)
    return done
  },
  update_test_status(state, args) {
    const taken = test(state, args)
    const owner = account(state, args)
    const passed = args.passed === true
    taken.status = passed ? 'passed' : 'not scheduled'
    taken.scheduled_time = null
    if (passed && args.test_type === 'drive') {
      const year = Number(text(state, 'interaction_time').slice(0, 4)) + 5
      owner.driver_license = {
        dl_number: 'D0000000000',
        legal_name: args.legal_name ?? text(args, 'username'),
        exp_date: `${year}${text(owner, 'birthday').slice(4)}`,
        address: value(owner, 'address'),
      }
    }
    return done
  },
  transfer_title(state, args) {
    const moved = vehicle(state, args)
    const plate = text(args, 'plate_num')
    delete record(account(state, args), 'vehicles')[plate]
    record(state, 'accounts', text(args, 'target_owner'), 'vehicles')[plate] = moved
    return done
  },
  internal_get_database: (state) => state,
  internal_check_username_exist: (state, args) => has(state.accounts, args.username),
  internal_get_user_birthday: (state, args) => text(account(state, args), 'birthday'),
  internal_has_vehicle: (state, args) =>
    has(record(account(state, args), 'vehicles'), args.plate_num),
  internal_vehicle_registered: (state, args) =>
    Object.values(record(state, 'accounts')).some((owner) =>
      has(value(owner, 'vehicles'), args.plate_num),
    ),
  internal_get_vehicle_details: vehicle,
  internal_has_dl: (state, args) => value(account(state, args), 'driver_license') !== null,
  internal_get_dl_details: license,
  internal_valid_test_type: (state, args) => has(state.test_slots, args.test_type),
  internal_check_test_slot_available: (state, args) =>
    slots(state, args).includes(args.schedule_time ?? refuse('no time is given')),
  internal_get_test_details: (state, args) =>
    record(account(state, args), 'tests', text(args, 'test_type')),
  internal_get_interaction_time: (state) => text(state, 'interaction_time'),
}
