/** The actors of a running service, live in a browser: on a page of our own and in the Stately inspector. */
export { inspect } from './inspect.ts'
export type { Inspectable, InspectOptions, Inspection } from './inspect.ts'
