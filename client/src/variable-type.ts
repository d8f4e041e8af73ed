export type JsonValue = null | boolean | number | string | JsonValue[] | { [name: string]: JsonValue }

export type VariableType = 'boolean' | 'number' | 'string' | 'object' | 'array' | 'null'

/** A variable was read as a type that its value does not have. */
export class VariableTypeError extends Error {
  override name = 'VariableTypeError'
  /** The name of the variable. */
  readonly variable: string
  readonly expected: VariableType
  readonly actual: VariableType

  constructor(variable: string, expected: VariableType, actual: VariableType) {
    super(`The variable ${variable} has the type ${actual}, not ${expected}.`)
    this.variable = variable
    this.expected = expected
    this.actual = actual
  }
}

export function typeOf(value: unknown): VariableType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object'
}

/** Only the outermost type is compared: the fields of an object are the caller's claim. */
export function hasType<Value>(value: unknown, expected: VariableType): value is Value {
  return typeOf(value) === expected
}
